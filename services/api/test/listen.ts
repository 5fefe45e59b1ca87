import { eventually } from '@jadwal/testkit'
import { onTestFinished } from 'vitest'
import { type TestApi, TOKEN } from './setup-api.ts'

export interface Heard {
  id: string
  type: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into data of every form
  data: any
}

/** A client of the stream of events; ends with the test. */
export async function listen(
  api: TestApi,
  query = '',
  headers: Readonly<Record<string, string>> = {},
) {
  const gone = new AbortController()
  onTestFinished(() => gone.abort())
  const res = await fetch(`${api.url}/api/v1/events${query}`, {
    headers: { authorization: `Bearer ${TOKEN}`, 'accept-encoding': 'gzip', ...headers },
    signal: gone.signal,
  })
  const heard: Heard[] = []
  let [text, hasEnded] = ['', false]
  const ended = read().finally(() => (hasEnded = true))
  async function read(): Promise<void> {
    if (!res.body) return
    const decoder = new TextDecoder()
    try {
      for await (const chunk of res.body) {
        text += decoder.decode(chunk, { stream: true })
        const parts = text.split('\n\n')
        text = parts.pop() ?? ''
        heard.push(...parts.flatMap(toEvent))
      }
    } catch (error) {
      if (!gone.signal.aborted) throw error
    }
  }
  return {
    res,
    heard,
    ended,
    get hasEnded() {
      return hasEnded
    },
    leave: () => gone.abort(),
    /** Resolves when so many events were heard. */
    until: (count: number) =>
      eventually(() => {
        if (heard.length < count) throw new Error(`heard ${JSON.stringify(heard)}`)
        return heard
      }),
  }
}

function toEvent(part: string): Heard[] {
  const fields = new Map(
    part.split('\n').map((line) => {
      const at = line.indexOf(': ')
      return [line.slice(0, at), line.slice(at + 2)]
    }),
  )
  const data = fields.get('data')
  if (data === undefined) return []
  return [{ id: fields.get('id') ?? '', type: fields.get('event') ?? '', data: JSON.parse(data) }]
}
