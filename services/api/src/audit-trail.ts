import { setMaxListeners } from 'node:events'
import { type AuditFact, type Clock, newOrderedId } from '@jadwal/domain'
import { appendAudit, Patience, randomFromPool } from '@jadwal/queue'
import { type Logger, sleep } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import { askRedis } from './ask.ts'
import { auditable, type Discretion } from './auditable.ts'
import type { Caller } from './caller.ts'
import { Catalogue } from './catalogue.ts'
import { Problem } from './problem.ts'

/** How often an entry's end is tried to be written, and how long is waited in between: a minute in all. */
const TRIES = 60
const TRY_AGAIN_MS = 1_000
/** Ends that wait to be tried again. An entry has 48 KiB at most. */
const MOST_WAITING = 1_000
/** How long is still tried when the api stops. */
const AT_CLOSE_MS = 5_000
const LONGEST_SUBJECT = 500

/** An act that is to be in the audit log. */
export interface Act {
  caller: Caller
  /** Such as `schedules.pause`. */
  action: string
  /** What it is done to, as a path below `/api/v1`: `schedules/nightly`. */
  subject?: string | undefined
  /** What was asked for. */
  request?: unknown
  /** Names of members, in the request and in what is noted, that hold secrets. */
  secrets?: readonly string[] | undefined
  address?: string | undefined
  requestId?: string | undefined
}

/** What an act changed. */
export interface Change {
  subject?: string
  before?: unknown
  after?: unknown
}

/** An entry whose act has begun. */
export interface OpenEntry {
  /** Tells how it ended: the HTTP status of the answer, and what changed. In the background. */
  end(status: number, change?: Change): void
}

export interface AuditDeps {
  redis: Redis
  prefix: string
  clock: Clock
  log: Logger
}

/**
 * Writes the audit log: an entry before an act, and the same once more after it, both as facts for the
 * recorder, so that Postgres may be away. No act goes on without its entry; an entry that is never
 * ended (this process was killed) says that nobody knows how the act ended.
 */
export class AuditTrail {
  readonly #deps: AuditDeps
  readonly #catalogue: Catalogue
  readonly #patience: Patience
  readonly #ending = new Set<Promise<void>>()
  readonly #closing = new AbortController()
  #waiting = 0

  constructor(deps: AuditDeps) {
    this.#deps = deps
    this.#catalogue = new Catalogue(deps)
    this.#patience = new Patience(deps.redis)
    setMaxListeners(MOST_WAITING, this.#closing.signal)
  }

  /**
   * Resolves when the entry is written. Throws a `Problem` when Redis is away: then nothing may be done,
   * and should the entry get into Redis all the same, it ends with the status of the `Problem`.
   */
  async begin(act: Act): Promise<OpenEntry> {
    const discretion = await this.#discretion(act)
    const fact = this.#fact(act, discretion)
    // A command that goes out may be carried out later, however soon its answer is given up.
    const goesOut = this.#deps.redis.status === 'ready'
    try {
      await this.#append(fact)
    } catch (error) {
      if (goesOut && error instanceof Problem)
        this.#inBackground(this.#end(fact, { status: error.status, change: {}, act }))
      throw error
    }
    return {
      end: (status, change = {}) => this.#inBackground(this.#end(fact, { status, change, act })),
    }
  }

  /** Writes an entry of what is over, or can't be kept from happening. In the background. */
  note(act: Act, status: number, change: Change = {}): void {
    this.#inBackground(
      this.#discretion(act)
        .catch(() => ({ jobs: [], ...hiddenIn(act) }))
        .then((discretion) => this.#end(this.#fact(act, discretion), { status, change, act })),
    )
  }

  /** Resolves when what was ended is written, or given up: within 5 s and what a last try takes. */
  async close(): Promise<void> {
    const written = new AbortController()
    void sleep(AT_CLOSE_MS, written.signal).then(() => this.#closing.abort())
    await Promise.all(this.#ending)
    written.abort()
  }

  /** What jobs say of their payloads; asked for only where there may be one. */
  async #discretion(act: Act): Promise<Discretion> {
    const { request } = act
    const job =
      request === null || typeof request !== 'object' ? undefined : Reflect.get(request, 'job')
    const names = typeof job === 'string' ? [job] : []
    const jobs = await askRedis(() => this.#patience.for(this.#catalogue.with(names)))
    return { jobs, ...hiddenIn(act) }
  }

  #fact(act: Act, discretion: Discretion): AuditFact {
    const now = this.#deps.clock.now()
    const { caller } = act
    return {
      kind: 'audit',
      id: newOrderedId(now.getTime(), randomFromPool(10)),
      audit: {
        at: now.toISOString(),
        actor: caller.name,
        role: caller.role,
        came_by: caller.by,
        token_id: caller.tokenId ?? null,
        address: act.address ?? null,
        request_id: act.requestId ?? null,
        action: act.action,
        subject: act.subject?.slice(0, LONGEST_SUBJECT) ?? null,
        request: auditable(act.request, discretion),
      },
    }
  }

  async #end(
    { id, audit }: AuditFact,
    { status, change, act }: { status: number; change: Change; act: Act },
  ): Promise<void> {
    const discretion = await this.#discretion(act).catch(() => ({ jobs: [] }))
    const ended: AuditFact = {
      kind: 'audit',
      id,
      audit: {
        ...audit,
        subject: change.subject?.slice(0, LONGEST_SUBJECT) ?? audit.subject,
        status,
        ended_at: this.#deps.clock.now().toISOString(),
        before: auditable(change.before, discretion),
        after: auditable(change.after, discretion),
      },
    }
    const failed = await this.#failureOf(ended)
    if (failed === undefined) return
    const { actor, action, subject } = ended.audit
    const facts = { err: failed, id, actor, action, subject, status }
    if (!(await this.#writtenLater(ended)))
      this.#deps.log.error(facts, 'the end of an act is not in the audit log')
  }

  /** Tries again for a minute, unless too many wait already. */
  async #writtenLater(fact: AuditFact): Promise<boolean> {
    if (this.#waiting >= MOST_WAITING) return false
    const { signal } = this.#closing
    this.#waiting += 1
    let isWritten = false
    for (let tries = 1; tries < TRIES && !isWritten && !signal.aborted; tries += 1) {
      await sleep(TRY_AGAIN_MS, signal)
      isWritten = (await this.#failureOf(fact)) === undefined
    }
    this.#waiting -= 1
    return isWritten
  }

  /** Why a fact could not be written; undefined when it was. */
  async #failureOf(fact: AuditFact): Promise<unknown> {
    return await this.#append(fact).then(
      () => undefined,
      (error: unknown) => error,
    )
  }

  async #append(fact: AuditFact): Promise<void> {
    const { redis, prefix } = this.#deps
    await askRedis(() => this.#patience.for(appendAudit(redis, prefix, [fact])))
  }

  #inBackground(work: Promise<void>): void {
    const ending = work.finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }
}

function hiddenIn({ secrets }: Act): Pick<Discretion, 'secrets'> {
  return secrets ? { secrets } : {}
}
