import { type AuditFact, type Clock, newOrderedId } from '@jadwal/domain'
import { appendAudit, Patience, randomFromPool } from '@jadwal/queue'
import { type Logger, sleep } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import { askRedis } from './ask.ts'
import { auditable, type Discretion } from './auditable.ts'
import type { Caller } from './caller.ts'
import { Catalogue } from './catalogue.ts'

/** How often an entry's end is tried to be written, and how long is waited in between. */
const TRIES = 3
const TRY_AGAIN_MS = 1_000
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

  constructor(deps: AuditDeps) {
    this.#deps = deps
    this.#catalogue = new Catalogue(deps)
    this.#patience = new Patience(deps.redis)
  }

  /** Resolves when the entry is written. Throws a `Problem` when Redis is away: then nothing may be done. */
  async begin(act: Act): Promise<OpenEntry> {
    const discretion = await this.#discretion(act)
    const fact = this.#fact(act, discretion)
    await this.#append(fact)
    return {
      end: (status, change = {}) => this.#inBackground(this.#end(fact, { status, change, act })),
    }
  }

  /** Writes an entry of what is over, or can't be kept from happening. In the background. */
  note(act: Act, status: number, change: Change = {}): void {
    this.#inBackground(
      this.#discretion(act)
        .catch(() => ({ jobs: [] }))
        .then((discretion) => this.#end(this.#fact(act, discretion), { status, change, act })),
    )
  }

  /** Resolves when what was ended is written, or given up. */
  async close(): Promise<void> {
    await Promise.all(this.#ending)
  }

  /** What jobs say of their payloads; asked for only where there may be one. */
  async #discretion({ request, secrets }: Act): Promise<Discretion> {
    const given = secrets ? { secrets } : {}
    const job =
      request === null || typeof request !== 'object' ? undefined : Reflect.get(request, 'job')
    const names = typeof job === 'string' ? [job] : []
    const jobs = await askRedis(() => this.#patience.for(this.#catalogue.with(names)))
    return { jobs, ...given }
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
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#append(ended)
      } catch (error) {
        if (tries === TRIES) {
          const { actor, action, subject } = ended.audit
          const facts = { err: error, id, actor, action, subject, status }
          return this.#deps.log.error(facts, 'the end of an act is not in the audit log')
        }
        await sleep(TRY_AGAIN_MS)
      }
    }
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
