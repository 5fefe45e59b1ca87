import type { Clock } from '@jadwal/domain'

/** A clock that stands still until it is moved by hand. */
export class FakeClock implements Clock {
  #nowMs: number
  #monotonicMs = 0

  constructor(now: string | number = '2026-09-01T10:00:00Z') {
    this.#nowMs = new Date(now).getTime()
  }

  now(): Date {
    return new Date(this.#nowMs)
  }

  monotonicMs(): number {
    return this.#monotonicMs
  }

  /** Time goes by. */
  advance(ms: number): void {
    this.#nowMs += ms
    this.#monotonicMs += ms
  }

  /** Somebody sets the wall clock; the monotonic one does not notice. */
  set(now: string | number): void {
    this.#nowMs = new Date(now).getTime()
  }
}
