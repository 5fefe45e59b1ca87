import { type EventEntry, type EventPosition, isGap, writePosition } from '@jadwal/queue'
import type { Response } from 'express'
import { type EventFilter, passes, wantsRuns } from './event-filter.ts'

/** Bytes that wait for a client that reads slowly; what comes when there are more is left out. */
const MOST_WAITING_BYTES = 1024 * 1024
/** Events that wait while older ones are read for it. */
const MOST_HELD = 5_000

/** Why events are missing for a client. */
export type GapReason = 'slow' | 'not-kept' | 'not-heard'

/**
 * One client's events, in the format of server-sent events. Each has an id behind which it can go on.
 * What it keeps in memory is bounded: a client that reads too slowly gets a `gap` in place of what it
 * missed.
 */
export class EventStream {
  readonly wantsRuns: boolean
  /** By a monotonic clock. */
  lastSentMs = 0
  readonly #res: Response
  readonly #filter: EventFilter
  readonly #position: EventPosition
  readonly #nowMs: () => number
  #held: EventEntry[] | undefined = []
  #heldTooMany = false
  #missing: GapReason | undefined

  constructor(
    res: Response,
    {
      filter,
      position,
      nowMs,
    }: { filter: EventFilter; position: EventPosition; nowMs: () => number },
  ) {
    this.#res = res
    this.#filter = filter
    this.wantsRuns = wantsRuns(filter)
    this.#position = { ...position }
    this.#nowMs = nowMs
    res.on('drain', () => this.#tellMissing())
  }

  /** Begins behind what is there, for a client that asks for nothing older. */
  startAt(position: EventPosition): void {
    Object.assign(this.#position, position)
  }

  /** An event as it comes: held until `goLive`, while older ones are sent. */
  hear(entry: EventEntry): void {
    if (!this.#held) this.send(entry)
    else if (this.#held.length < MOST_HELD) this.#held.push(entry)
    else this.#heldTooMany = true
  }

  /** Sends an event, if it is wanted. */
  send(entry: EventEntry): void {
    if (entry.stream === 'runs' && !this.wantsRuns) return
    this.#position[entry.stream] = entry.id
    if (isGap(entry)) return this.miss('not-heard')
    if (!passes(this.#filter, entry)) return
    if (this.#isFull()) this.#missing = 'slow'
    this.#tellMissing()
    if (this.#missing !== undefined) return
    this.#write(`event: ${entry.type}\n`, { at: entry.at, ...entry.data })
  }

  /** Older events were sent: what came meanwhile follows. */
  goLive(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const entry of held) this.send(entry)
    if (this.#heldTooMany) this.miss('slow')
  }

  /** Resolves when the client has taken most of what it was sent, or has gone. */
  async drained(): Promise<void> {
    if (this.#res.closed || this.#res.writableLength < MOST_WAITING_BYTES / 4) return
    await new Promise<void>((resolve) => {
      this.#res.once('drain', resolve).once('close', resolve)
    })
  }

  /** Says that events are missing here. */
  miss(reason: GapReason): void {
    this.#missing = reason
    this.#tellMissing()
  }

  /** Keeps what lies between from ending an idle connection, and brings the client's id forward. */
  beat(): void {
    if (!this.#isFull()) this.#send(`: heartbeat\nid: ${writePosition(this.#position)}\n\n`)
  }

  end(): void {
    this.#res.end()
  }

  #isFull(): boolean {
    return this.#res.writableLength > MOST_WAITING_BYTES
  }

  #tellMissing(): void {
    const reason = this.#missing
    if (reason === undefined || this.#isFull()) return
    this.#missing = undefined
    this.#write('event: gap\n', { reason })
  }

  #write(head: string, data: object): void {
    const id = writePosition(this.#position)
    this.#send(`${head}id: ${id}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  #send(text: string): void {
    if (this.#res.writableEnded) return
    this.#res.write(text)
    this.lastSentMs = this.#nowMs()
  }
}
