/** An event of a stream (SSE). */
export interface StreamEvent {
  id: string | undefined
  type: string
  /** Empty when it only brings a later id. */
  data: string
}

/** Reads events of a body in `text/event-stream`, as the HTML standard has it. Ends with the body. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  let event = emptyEvent()
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line !== '') addField(event, line)
      else {
        // One without data brings a later id, so that a new connection goes on behind it.
        if (event.lines.length > 0 || event.id !== undefined) yield toEvent(event)
        event = emptyEvent()
      }
    }
  }
}

interface Unfinished {
  id: string | undefined
  type: string
  lines: string[]
}

function emptyEvent(): Unfinished {
  return { id: undefined, type: 'message', lines: [] }
}

function addField(event: Unfinished, line: string): void {
  const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
  if (name === 'data') event.lines.push(value)
  else if (name === 'event') event.type = value
  else if (name === 'id') event.id = value
}

function toEvent({ id, type, lines }: Unfinished): StreamEvent {
  return { id, type, data: lines.join('\n') }
}
