import { EventEmitter } from 'node:events'
import type { EventEntry } from '@jadwal/queue'
import type { Response } from 'express'
import { expect, test } from 'vitest'
import { EventStream } from './event-stream.ts'

/** A client that takes nothing until it is told to. */
class SlowClient extends EventEmitter {
  waiting: string[] = []
  taken: string[] = []
  readonly writableEnded = false

  get writableLength(): number {
    return this.waiting.reduce((sum, text) => sum + text.length, 0)
  }

  write(text: string): void {
    this.waiting.push(text)
  }

  take(): void {
    this.taken.push(...this.waiting)
    this.waiting = []
    this.emit('drain')
  }
}

function entry(number: number): EventEntry {
  const data = { id: String(number), text: 'x'.repeat(10_000) }
  return { stream: 'events', id: `${number}-0`, type: 'run.dead', at: '', data }
}

test('a client that reads slowly costs a bounded amount, is told of the gap and goes on', () => {
  const client = new SlowClient()
  const filter = { types: new Set(['run.dead']) }
  const position = { events: '0-0', runs: '0-0' }
  const stream = new EventStream(client as unknown as Response, {
    filter,
    position,
    nowMs: () => 0,
  })
  stream.goLive()
  for (let number = 1; number <= 1_000; number += 1) stream.hear(entry(number))
  expect(client.writableLength).toBeLessThan(1_100_000)
  client.take()
  stream.hear(entry(1_001))
  client.take()
  const [gap, last] = client.taken.slice(-2)
  expect(gap).toBe('event: gap\nid: 1000-0_0-0\ndata: {"reason":"slow"}\n\n')
  expect(last).toContain('id: 1001-0_0-0')
})
