import { timingSafeEqual } from 'node:crypto'
import { type Db, listLiveTokens, type LiveToken } from '@jadwal/db'
import { type Clock, MINUTE, SECOND } from '@jadwal/domain'
import { hashToken, isTokenText, type Logger, rateLimitedErrors, sleep } from '@jadwal/runtime'
import { Problem } from './problem.ts'

/** What is known is renewed in the background when it is older than the first, and waited for from the second on. */
const FRESH_MS = SECOND
const STALE_MS = 2 * SECOND
/** How long tokens stay good when Postgres can't be asked about them. */
const TRUSTED_MS = 5 * MINUTE
/** The least time between two loads, and the longest that a request waits for one. */
const LOAD_EACH_MS = 250
const WAIT_MS = SECOND

/** Who has a token. */
export type TokenHolder = Pick<LiveToken, 'id' | 'name' | 'role' | 'expires_at'>

/**
 * The live tokens, all of them, in memory: to check one costs no query. They are read again at most once
 * a second while requests come, at once after a change that this process hears of, and when a token is
 * not among them, for all who wait together. So wrong tokens take no memory and no query each.
 *
 * While Postgres is away, tokens that are known stay good for five minutes; of others nobody can tell.
 */
export class TokenBook {
  readonly #db: Db
  readonly #clock: Clock
  readonly #failed: (error: unknown) => void
  #byHash = new Map<string, LiveToken>()
  #byId = new Map<string, LiveToken>()
  /** When the last load that succeeded was begun, by the monotonic clock. */
  #loadedAtMs = -Infinity
  /** What was loaded before is not good enough any more. */
  #neededSinceMs = -Infinity
  #begunAtMs = -Infinity
  #isFailing = false
  #loading: Promise<void> | undefined

  constructor({ db, clock, log }: { db: Db; clock: Clock; log: Logger }) {
    this.#db = db
    this.#clock = clock
    this.#failed = rateLimitedErrors(log, 'tokens cannot be read')
  }

  /** Who has a token; undefined when nobody does. Throws a `Problem` when that can't be told. */
  async find(text: string): Promise<TokenHolder | undefined> {
    if (!isTokenText(text)) return undefined
    const sinceMs = this.#clock.monotonicMs()
    await this.#recent()
    const hash = hashToken(text)
    const known = (): LiveToken | undefined => {
      const token = this.#byHash.get(hash.toString('hex'))
      return token && timingSafeEqual(token.hash, hash) ? token : undefined
    }
    return this.#good(known()) ?? (await this.#afterLoad(sinceMs, known))
  }

  /** Who has the token with this id: as `find`. */
  async findById(id: string): Promise<TokenHolder | undefined> {
    const sinceMs = this.#clock.monotonicMs()
    await this.#recent()
    const known = (): LiveToken | undefined => this.#byId.get(id)
    return this.#good(known()) ?? (await this.#afterLoad(sinceMs, known))
  }

  /** To be told when tokens were made or revoked: who asks from here on is answered by what is true now. */
  changed(): void {
    this.#neededSinceMs = this.#clock.monotonicMs()
  }

  /** A token that has not expired, as long as what is known may be trusted. */
  #good(token: LiveToken | undefined): LiveToken | undefined {
    if (!token || isOver(token, this.#clock.now())) return undefined
    if (this.#clock.monotonicMs() - this.#loadedAtMs > TRUSTED_MS) throw unavailable()
    return token
  }

  /** For a token that is not known: it may have just been made. */
  async #afterLoad(
    sinceMs: number,
    known: () => LiveToken | undefined,
  ): Promise<LiveToken | undefined> {
    const before = known()
    if (before && isOver(before, this.#clock.now())) return undefined
    await this.#wait(this.#loadedSince(sinceMs))
    if (this.#loadedAtMs < sinceMs) throw unavailable()
    return this.#good(known())
  }

  /** Resolves when what is known is good enough, or can't be had better. Renews it when it is not new. */
  async #recent(): Promise<void> {
    const nowMs = this.#clock.monotonicMs()
    const ageMs = nowMs - this.#loadedAtMs
    const isOutdated = this.#loadedAtMs < this.#neededSinceMs
    if (ageMs < FRESH_MS && !isOutdated) return
    const tried = nowMs - this.#begunAtMs
    const loading = this.#isFailing && tried < FRESH_MS ? undefined : this.#load()
    if ((ageMs < STALE_MS && !isOutdated) || this.#isFailing) return
    await this.#wait(isOutdated ? this.#loadedSince(this.#neededSinceMs) : loading)
  }

  async #loadedSince(sinceMs: number): Promise<void> {
    do await this.#load()
    while (this.#loadedAtMs < sinceMs && !this.#isFailing)
  }

  /** A Postgres that does not say a word for a second counts as away. */
  async #wait(loading: Promise<void> | undefined): Promise<void> {
    if (!loading) return
    const patience = new AbortController()
    const isLate = sleep(WAIT_MS, patience.signal).then(() => !patience.signal.aborted)
    const late = await Promise.race([loading.then(() => false), isLate])
    patience.abort()
    if (late) this.#isFailing = true
  }

  /** One at a time. Never rejects. */
  #load(): Promise<void> {
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #read(): Promise<void> {
    const restMs = this.#begunAtMs + LOAD_EACH_MS - this.#clock.monotonicMs()
    if (restMs > 0) await sleep(restMs)
    const begunAtMs = this.#clock.monotonicMs()
    this.#begunAtMs = begunAtMs
    try {
      const tokens = await listLiveTokens(this.#db, this.#clock.now())
      this.#byHash = new Map(tokens.map((token) => [token.hash.toString('hex'), token]))
      this.#byId = new Map(tokens.map((token) => [token.id, token]))
      this.#loadedAtMs = begunAtMs
      this.#isFailing = false
    } catch (error) {
      this.#isFailing = true
      this.#failed(error)
    }
  }
}

function isOver({ expires_at: expiresAt }: LiveToken, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now
}

function unavailable(): Problem {
  return new Problem('tokens-unavailable', {
    detail:
      'Whether this token is good cannot be told right now, since Postgres does not answer. Ask again in a moment.',
    headers: { 'Retry-After': '5' },
  })
}
