import { type Fuse, fuseSign } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import type { Admission } from './admission.ts'
import { type FuseChange, tellChange } from './fuse-change.ts'
import { LOOK_EACH_MS } from './fuse-lua.ts'
import { type FuseScripts, fuseScripts, type FuseState, fuseText } from './fuse-script.ts'
import { fuseChannel } from './keys.ts'
import { untilTaken } from './passing-refusal.ts'
import type { RunEnd } from './run-end.ts'
import type { StartedRun } from './run-start.ts'
import { subscribe } from './subscribe.ts'

export interface FusedJob {
  name: string
  queue: string
  fuse: Fuse
}

export interface FuseWatchOptions {
  redis: Redis
  url: string
  prefix: string
  jobs: readonly FusedJob[]
  /** A fuse has changed by something that this process did; others hear of it by `onState`. */
  onChange: (change: FuseChange) => void
  /** Whether a job's fuse is closed; told when it is first known, and whenever that changes. */
  onState: (job: FusedJob, isClosed: boolean) => void
  onError: (error: Error) => void
  /** Aborts when the worker stops. */
  stop: AbortSignal
}

interface Watched {
  job: FusedJob
  text: string
  scripts: FuseScripts
  /** Undefined until Redis was heard of it. */
  isClosed: boolean | undefined
  /** Ends of this turn of the event loop. */
  good: number
  bad: number
}

/**
 * Keeps what a worker has to know of the fuses of its jobs: as long as one is closed, a run of its job is
 * made without asking. A worker learns of a change from its own questions, over a channel, and by looking.
 */
export class FuseWatch {
  readonly #options: FuseWatchOptions
  readonly #fuses = new Map<string, Watched>()
  readonly #letThrough = new WeakSet<StartedRun>()
  readonly #subscription: { close(): void } | undefined
  readonly #closed = new AbortController()
  #isCounting = false

  constructor(options: FuseWatchOptions) {
    this.#options = options
    const { redis, url, prefix, jobs, onError } = options
    for (const job of jobs) {
      const scripts = fuseScripts(redis, prefix, job.queue)
      const text = fuseText(job)
      this.#fuses.set(job.name, { job, text, scripts, isClosed: undefined, good: 0, bad: 0 })
    }
    const channels = this.#queues().map((queue) => {
      const hear = (): void => void this.#look(queue).catch(onError)
      return [fuseChannel(prefix, queue), hear] as const
    })
    if (channels.length > 0)
      this.#subscription = subscribe({ url, channels: Object.fromEntries(channels), onError })
  }

  /**
   * Whether a run that is in hand may be made; undefined: yes.
   */
  admit(run: StartedRun): undefined | Promise<Admission> {
    const fuse = this.#fuses.get(run.job)
    return fuse === undefined || fuse.isClosed === true ? undefined : this.#ask(fuse, run)
  }

  /** An attempt is over; `counted` is false when its outcome was refused or could not be written. */
  ended(run: StartedRun, end: RunEnd, counted: boolean): void {
    const fuse = this.#fuses.get(run.job)
    if (!fuse) return
    const sign = counted ? fuseSign(end) : undefined
    // At once: when BullMQ has been told, its place would count as lost.
    if (this.#letThrough.delete(run))
      void this.#count(fuse, { good: 0, bad: 0, probes: [{ id: run.id, token: run.token, sign }] })
    else if (sign !== undefined) {
      fuse[sign] += 1
      if (!this.#isCounting) setImmediate(() => this.#countTurn())
      this.#isCounting = true
    }
  }

  /** Looks after all fuses. Returns in how many ms to look again. */
  async look(): Promise<number> {
    let waitMs = LOOK_EACH_MS
    for (const queue of this.#queues()) waitMs = Math.min(waitMs, await this.#look(queue))
    return waitMs
  }

  /** Raises the events of changes. */
  async tell(changes: readonly FuseChange[]): Promise<void> {
    const { redis, prefix } = this.#options
    for (const change of changes) await tellChange(redis, prefix, change)
  }

  /** Aborts when the watch is closed. */
  get signal(): AbortSignal {
    return this.#closed.signal
  }

  close(): void {
    this.#closed.abort()
    this.#subscription?.close()
  }

  async #ask(fuse: Watched, run: StartedRun): Promise<Admission> {
    try {
      const answer = await untilTaken(() => fuse.scripts.admit(fuse.text, run), this.#options)
      if (!answer) return 'drained'
      const { admission, state, changes } = answer
      if (admission === 'go' && state === 'probing') this.#letThrough.add(run)
      this.#learn(fuse, state, changes)
      return admission
    } catch (error) {
      // A fuse that can't be asked is none.
      this.#failed(error)
      return 'go'
    }
  }

  #countTurn(): void {
    this.#isCounting = false
    for (const fuse of this.#fuses.values()) {
      const { good, bad } = fuse
      if (good === 0 && bad === 0) continue
      fuse.good = 0
      fuse.bad = 0
      void this.#count(fuse, { good, bad })
    }
  }

  async #count(fuse: Watched, ends: Parameters<FuseScripts['count']>[1]): Promise<void> {
    try {
      const { state, changes } = await fuse.scripts.count(fuse.text, ends)
      this.#learn(fuse, state, changes)
    } catch (error) {
      this.#failed(error)
    }
  }

  async #look(queue: string): Promise<number> {
    const watched = [...this.#fuses.values()].filter((fuse) => fuse.job.queue === queue)
    const texts = watched.map((fuse) => fuse.text)
    const { fuses, changes } = (await watched[0]?.scripts.look(texts)) ?? { fuses: [], changes: [] }
    for (const [at, fuse] of watched.entries()) {
      const word = fuses[at]
      const own = changes.filter((change) => change.job === fuse.job.name)
      if (word) this.#learn(fuse, word.state, own)
    }
    return Math.min(LOOK_EACH_MS, ...fuses.map((word) => word.waitMs))
  }

  #learn(fuse: Watched, state: FuseState, changes: readonly FuseChange[]): void {
    const isClosed = state === 'closed'
    if (isClosed !== fuse.isClosed) this.#options.onState(fuse.job, isClosed)
    fuse.isClosed = isClosed
    for (const change of changes) this.#options.onChange(change)
    // What fails here is told by the net.
    if (changes.length > 0) this.tell(changes).catch((error: unknown) => this.#failed(error))
  }

  #queues(): string[] {
    return [...new Set([...this.#fuses.values()].map((fuse) => fuse.job.queue))]
  }

  #failed(error: unknown): void {
    this.#options.onError(error instanceof Error ? error : new Error(String(error)))
  }
}
