import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '@jadwal/domain'
import type { Api, Query } from './api.ts'
import { ProblemError, UnreachableError } from './api-errors.ts'
import { readEvents, type StreamEvent } from './event-stream.ts'

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 10_000
/** The api sends a comment each 15 s, so a stream that says nothing for this long is broken. */
const SILENCE_MS = 60_000

export interface FollowedEvents {
  api: Api
  clock: Clock
  stop: AbortSignal
  /** Hears of a lost stream, and that it is there again. */
  onTrouble: (message: string) => void
}

/**
 * Events as they come, over lost connections: after each the stream goes on behind the last event that
 * was seen. Throws what the first connection meets; later only what waiting does not cure.
 */
export async function* followEvents(
  { api, stop, onTrouble }: FollowedEvents,
  query: Query,
): AsyncGenerator<StreamEvent> {
  let [lastId, waitMs, isFirst] = [undefined as string | undefined, FIRST_WAIT_MS, true]
  for (;;) {
    try {
      for await (const event of openEvents(api, query, lastId)) {
        if (event === 'open') {
          if (!isFirst) onTrouble('connected again')
          ;[isFirst, waitMs] = [false, FIRST_WAIT_MS]
          continue
        }
        lastId = event.id ?? lastId
        if (event.data !== '') yield event
      }
      onTrouble('the stream has ended; connecting again')
    } catch (error) {
      if (stop.aborted || isFirst || !isPassing(error)) throw error
      onTrouble(`the stream was lost; connecting again in ${waitMs / 1_000} s`)
    }
    await wait(waitMs, undefined, { signal: stop })
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  }
}

async function* openEvents(
  api: Api,
  query: Query,
  lastId: string | undefined,
): AsyncGenerator<StreamEvent | 'open'> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const headers = {
      accept: 'text/event-stream',
      ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
    }
    const response = await api.open('/events', { query, headers }, silence.signal)
    if (!response.body || !response.headers.get('content-type')?.includes('text/event-stream'))
      throw new UnreachableError('the api answers with no stream of events. Is it of this version?')
    yield 'open'
    const heard = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          clearTimeout(timer)
          timer = setTimeout(() => silence.abort(), SILENCE_MS)
          controller.enqueue(chunk)
        },
      }),
    )
    yield* readEvents(heard)
  } finally {
    clearTimeout(timer)
  }
}

/** What another try may cure: the api is away, busy, or starts again. */
function isPassing(error: unknown): boolean {
  return error instanceof ProblemError ? error.status >= 429 : true
}
