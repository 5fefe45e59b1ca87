import type { RunMessage } from '@jadwal/domain'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'bullmq'
import type { Redis } from 'ioredis'

const CLOSING_DELAY_MS = 50

/**
 * BullMQ's worker, which knows of each message that it has in hand. BullMQ itself forgets to renew a
 * lock when a message comes back to the worker that only just let go of it: it drops messages from its
 * list by their ids, once more after it has fetched the next. So it may drop only those not in hand.
 */
export class MessageWorker extends Worker<RunMessage> {
  readonly #inHand = new Map<string, string>()

  /** Keeps the locks of messages in hand. To be called once, before the worker runs. */
  keepLocks(): void {
    const { lockManager } = this
    const untrack = lockManager.untrackJob.bind(lockManager)
    lockManager.untrackJob = (id) => {
      if (!this.#inHand.has(id)) untrack(id)
    }
  }

  /** BullMQ does not cut short a wait that begins after the close, such as for the end of a rate's window. */
  override async delay(...[waitMs, abort]: Parameters<Worker['delay']>): Promise<void> {
    await super.delay(this.closing ? CLOSING_DELAY_MS : waitMs, abort)
  }

  /** The message is in hand for as long as the promise is pending. `token` is the holder's mark in its lock. */
  async hold(id: string, token: string, processing: Promise<void>): Promise<void> {
    this.#inHand.set(id, token)
    try {
      await processing
    } finally {
      if (this.#inHand.get(id) === token) this.#inHand.delete(id)
    }
  }

  /**
   * Which of the messages in hand have another's mark in their lock, or none. A renewal may fail of one
   * that was given back, by the answer that is on its way, or has even come back since.
   */
  async lostOf(redis: Redis, lockKeys: ReadonlyMap<string, string>): Promise<string[]> {
    const tokens = new Map([...lockKeys.keys()].map((id) => [id, this.#inHand.get(id)]))
    const holders = await Promise.all([...lockKeys.values()].map((key) => redis.get(key)))
    // What gave a message back was sent before: whoever waits for its answer has it by then.
    await setImmediate()
    return [...lockKeys.keys()].filter((id, at) => {
      const token = tokens.get(id)
      return token !== undefined && token !== holders[at] && this.#inHand.get(id) === token
    })
  }

  get inHand(): number {
    return this.#inHand.size
  }
}
