import { setTimeout as delay } from 'node:timers/promises'
import type { ServiceProcess } from '@jadwal/testkit'
import { onTestFinished } from 'vitest'

/** A process that is started again whenever it ends, until it is told to rest. */
export class Kept {
  service: ServiceProcess
  /** When each process that has ended did so, by its id; noticed a little later than it happened. */
  readonly endedAtMs = new Map<number, number>()
  readonly #start: () => ServiceProcess
  #resting = false

  constructor(start: () => ServiceProcess) {
    this.#start = start
    this.service = start()
    onTestFinished(() => this.rest())
    void this.#keep()
  }

  rest(): void {
    this.#resting = true
  }

  async #keep(): Promise<void> {
    while (!this.#resting) {
      await Promise.race([this.service.exitCode(), delay(500)])
      const { exitCode, signalCode } = this.service.child
      if (exitCode === null && signalCode === null) continue
      this.endedAtMs.set(this.service.pid, Date.now())
      if (!this.#resting) this.service = this.#start()
    }
  }
}

export function pick<T>(from: readonly T[]): T {
  return from[Math.floor(Math.random() * from.length)] as T
}
