import type { ChildLink } from './child-link.ts'
import type { CallMethod, ToChild } from './messages.ts'
import { receivedThrown } from './sent-error.ts'

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** What handlers in this child ask their worker, and its answers. */
export class ChildCalls {
  readonly #link: ChildLink
  readonly #waiting = new Map<number, Waiting>()
  #count = 0

  constructor(link: ChildLink) {
    this.#link = link
  }

  /** Rejects with what the worker's own context rejects with, and when the arguments can't be cloned. */
  ask(serial: number, method: CallMethod, args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#count += 1
      this.#link.send({ type: 'call', serial, call: this.#count, method, args })
      this.#waiting.set(this.#count, { resolve, reject })
    })
  }

  answered({ call, value, error }: Extract<ToChild, { type: 'answer' }>): void {
    const waiting = this.#waiting.get(call)
    this.#waiting.delete(call)
    if (error) waiting?.reject(receivedThrown(error))
    else waiting?.resolve(value)
  }
}
