import {
  type AlertConfig,
  type Db,
  deleteOldAlerts,
  listAlertAddresses,
  listUnfinishedAlerts,
  loadAlertConfig,
  noteSeen,
  recordAlerts,
} from '@jadwal/db'
import { alertKey, type AlertState, type Clock, HOUR, isOver, MINUTE, SECOND } from '@jadwal/domain'
import { type AlertSnapshot, AlertStore, type Producer, takeAlertSnapshot } from '@jadwal/queue'
import { type Logger, rateLimitedErrors } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import { isPostgresTrouble } from '../postgres-trouble.ts'
import { alertChanges, tellChanges } from './alert-changes.ts'
import { ended } from './alert-end.ts'
import { AlertOutlet } from './alert-outlet.ts'
import { seenUntilMs } from './look-back.ts'
import type { Observation } from './observation.ts'
import { needsHistory } from './observe-rule.ts'
import { RuleObserver } from './observe-rules.ts'
import { stepRules } from './step-rules.ts'

const LEASE_MS = 12 * SECOND
const LOOK_EACH_MS = SECOND
const ROUND_EACH_MS = 10 * SECOND
/** Events come in swarms. */
const ROUND_AFTER_EVENT_MS = 2 * SECOND
const TIDY_EACH_MS = HOUR
/** The first message of an alert waits so long for more of the same. */
const GATHER_MS = 10 * SECOND

export interface AlertEvaluatorDeps {
  redis: Redis
  prefix: string
  db: Db
  producer: Producer
  clock: Pick<Clock, 'monotonicMs'>
  log: Logger
  /** What stands before the paths of links in messages. */
  publicUrl: string | undefined
  /** Others than the usual are for tests. */
  gatherMs?: number
  leaseMs?: number
  /** By the clock of Redis when left out (ms). */
  nowMs?: () => Promise<number>
}

/**
 * Evaluates alert rules, in one api at a time.
 *
 * Each round looks at how everything stands, so nothing depends on an event being heard: an event only makes
 * the next round come sooner. An alert is written to Redis, with the message that is due, before the message
 * is sent, and the ids of a message's runs follow from the alert: who takes over in between sends the same
 * runs again, which is to say none. That a time was looked at is noted when the alerts of it are kept.
 *
 * What Redis knows is judged and told of before the history is asked, which may take long or be away: rules
 * are known from memory then, and what only Postgres knows stays as it was. However long a round takes, the
 * lease is renewed.
 */
export class AlertEvaluator {
  readonly #deps: AlertEvaluatorDeps
  readonly #store: AlertStore
  readonly #observer: RuleObserver
  readonly #outlet: AlertOutlet
  readonly #gatherMs: number
  readonly #logTrouble: (error: unknown) => void
  #config: AlertConfig | undefined
  /** By `alertKey`; undefined while another evaluates. */
  #states: Map<string, AlertState> | undefined
  /** Alerts as they are to be in Postgres, by id. */
  readonly #unrecorded = new Map<string, AlertState>()
  #isPostgresAway = false
  #lastEvent = ''
  #nextRoundMs = -Infinity
  #lastRoundMs = -Infinity
  #nextTidyMs = -Infinity

  constructor(deps: AlertEvaluatorDeps) {
    const { redis, prefix, leaseMs = LEASE_MS, gatherMs = GATHER_MS, log } = deps
    this.#deps = deps
    this.#gatherMs = gatherMs
    this.#logTrouble = rateLimitedErrors(log, 'alert rules can not be evaluated as they should')
    this.#store = new AlertStore({ redis, prefix, leaseMs })
    this.#observer = new RuleObserver({ ...deps, onTrouble: this.#logTrouble })
    this.#outlet = new AlertOutlet({
      ...deps,
      gatherMs,
      addressesOf: async (schedules) => {
        const named = await this.#askPostgres(() => listAlertAddresses(deps.db, schedules))
        return [...(named?.values() ?? [])]
      },
      onTrouble: this.#logTrouble,
    })
  }

  /** Looks whether a round is due and this api is to make it. Returns ms until the next look. */
  async look(): Promise<number> {
    const nowMs = this.#deps.clock.monotonicMs()
    const held = await this.#store.hold()
    // Whoever evaluated meanwhile has changed them.
    if (held !== 'kept') this.#states = undefined
    if (held === 'lost') {
      if (nowMs >= this.#nextRoundMs) {
        // Warm, in case that Postgres is away when it takes over.
        await this.#refreshConfig(await this.#now())
        this.#nextRoundMs = nowMs + ROUND_EACH_MS
      }
      return LOOK_EACH_MS
    }
    const event = await this.#store.lastEventId()
    const hasNews = event !== this.#lastEvent && nowMs - this.#lastRoundMs >= ROUND_AFTER_EVENT_MS
    if (!this.#states || hasNews || nowMs >= this.#nextRoundMs) {
      this.#lastEvent = event
      this.#lastRoundMs = nowMs
      const dueInMs = await this.round()
      this.#nextRoundMs = nowMs + Math.min(ROUND_EACH_MS, dueInMs)
    }
    return LOOK_EACH_MS
  }

  /** Judges everything once. Returns in how many ms a message that is gathering falls due; Infinity when none is. */
  async round(): Promise<number> {
    return await this.#store.whileHeld(async (lost) => {
      const nowMs = await this.#now()
      await this.#refreshConfig(nowMs)
      const config = this.#config
      if (!config) return Infinity
      const snapshot = await takeAlertSnapshot(this.#deps.redis, this.#deps.prefix, nowMs)
      this.#states ??= await this.#takeOver(nowMs)
      const seen = await this.#judgeAll(config, snapshot, lost)
      if (!seen) {
        this.#logTrouble(
          new Error('another api evaluates, or none did in time: what was found is dropped'),
        )
        return 0
      }
      if (await this.#record(nowMs)) await this.#noteSeen(config, seen, snapshot)
      return this.#nextDueMs(nowMs)
    })
  }

  /** Lets another evaluate at once. */
  async close(): Promise<void> {
    await this.#store.release().catch(() => undefined)
  }

  async #now(): Promise<number> {
    return await (this.#deps.nowMs?.() ?? this.#store.nowMs())
  }

  async #refreshConfig(nowMs: number): Promise<void> {
    this.#isPostgresAway = false
    const config = await this.#askPostgres(() => loadAlertConfig(this.#deps.db, new Date(nowMs)))
    this.#config = config ?? this.#config
  }

  /** Undefined when Postgres is away, which is found out once a round: the lease does not wait for more. */
  async #askPostgres<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#isPostgresAway) return undefined
    try {
      return await work()
    } catch (error) {
      this.#logTrouble(error)
      if (!isPostgresTrouble(error)) throw error
      this.#isPostgresAway = true
      return undefined
    }
  }

  /** What Redis lost is taken from Postgres; what Postgres still has open and Redis no longer is put right there. */
  async #takeOver(nowMs: number): Promise<Map<string, AlertState>> {
    const kept = await this.#store.read()
    const states = new Map(kept.map((state) => [alertKey(state), state]))
    for (const state of (await this.#askPostgres(() => listUnfinishedAlerts(this.#deps.db))) ??
      []) {
      const known = states.get(alertKey(state))
      if (!known) states.set(alertKey(state), state)
      else if (known.id !== state.id)
        this.#unrecorded.set(state.id, ended({ ...state, changedMs: nowMs }, nowMs))
    }
    return states
  }

  /** The names of rules of which all was seen; undefined when another evaluates by now. */
  async #judgeAll(
    config: AlertConfig,
    snapshot: AlertSnapshot,
    lost: AbortSignal,
  ): Promise<string[] | undefined> {
    if (!(await this.#endOfUnknownRules(config, snapshot.nowMs))) return undefined
    const look = { snapshot, states: this.#states ?? new Map<string, AlertState>(), lost }
    const ofRedis = config.rules.filter((rule) => !needsHistory(rule.spec))
    const known = await this.#observer.ofRedis(enabled(ofRedis), look)
    if (!(await this.#judge({ ...config, rules: ofRedis }, known, snapshot.nowMs))) return undefined
    const ofHistory = config.rules.filter(({ spec }) => needsHistory(spec))
    const told = this.#isPostgresAway
      ? new Map<string, Observation>()
      : await this.#observer.ofHistory(enabled(ofHistory), look)
    if (lost.aborted) return undefined
    if (!(await this.#judge({ ...config, rules: ofHistory }, told, snapshot.nowMs)))
      return undefined
    return [...told].flatMap(([name, { isComplete }]) => (isComplete ? [name] : []))
  }

  /** Keeps and tells what was observed of the rules of `config`. False when another evaluates by now. */
  async #judge(
    config: AlertConfig,
    observed: ReadonlyMap<string, Observation>,
    nowMs: number,
  ): Promise<boolean> {
    const before = this.#states ?? new Map<string, AlertState>()
    const after = stepRules(config.rules, before, { observed, nowMs })
    await this.#outlet.decide(config, after, nowMs)
    if (!(await this.#write(before, after))) return false
    await tellChanges(this.#deps, alertChanges(before, after))
    const sent = new Map(after)
    await this.#outlet.send(config, sent, nowMs)
    return await this.#write(after, sent)
  }

  async #noteSeen(config: AlertConfig, seen: string[], snapshot: AlertSnapshot): Promise<void> {
    const until = new Date(seenUntilMs(snapshot))
    const rules = config.rules.filter(
      ({ name, seenUntil }) =>
        seen.includes(name) && (!seenUntil || until.getTime() - seenUntil.getTime() >= MINUTE),
    )
    await this.#askPostgres(() =>
      noteSeen(
        this.#deps.db,
        rules.map(({ name }) => name),
        until,
      ),
    )
  }

  /** A rule that was deleted takes its alerts along. False when another evaluates by now. */
  async #endOfUnknownRules({ rules }: AlertConfig, nowMs: number): Promise<boolean> {
    const before = this.#states ?? new Map<string, AlertState>()
    const known = new Set(rules.map(({ name }) => name))
    const after = new Map([...before].filter(([, { rule }]) => known.has(rule)))
    for (const [key, state] of before)
      if (!after.has(key)) this.#unrecorded.set(state.id, ended(state, nowMs))
    return await this.#write(before, after)
  }

  /** Writes what has changed to Redis. False when another evaluates by now. */
  async #write(
    before: ReadonlyMap<string, AlertState>,
    after: Map<string, AlertState>,
  ): Promise<boolean> {
    const changed = [...after].flatMap(([key, state]) => (before.get(key) === state ? [] : [state]))
    const gone = [...before.keys()].filter((key) => !after.has(key))
    for (const state of changed) this.#unrecorded.set(state.id, state)
    const isHeld = await this.#store.save(changed, gone)
    this.#states = isHeld ? after : undefined
    return isHeld
  }

  /** Brings Postgres up to date; alerts that are over leave Redis then. False when Postgres is away. */
  async #record(nowMs: number): Promise<boolean> {
    const states = [...this.#unrecorded.values()]
    const recorded = await this.#askPostgres(async () => {
      await recordAlerts(this.#deps.db, states)
      if (nowMs >= this.#nextTidyMs) await deleteOldAlerts(this.#deps.db, new Date(nowMs))
      return true
    })
    if (!recorded) return false
    if (nowMs >= this.#nextTidyMs) this.#nextTidyMs = nowMs + TIDY_EACH_MS
    for (const state of states)
      if (this.#unrecorded.get(state.id) === state) this.#unrecorded.delete(state.id)
    const over = [...(this.#states ?? [])].flatMap(([key, state]) => (isOver(state) ? [key] : []))
    if (await this.#store.save([], over)) for (const key of over) this.#states?.delete(key)
    else this.#states = undefined
    return true
  }

  #nextDueMs(nowMs: number): number {
    const gathering = [...(this.#states?.values() ?? [])].filter(
      ({ phase, sent }) => phase === 'open' && sent === 0,
    )
    const inMs = gathering.map(({ openedMs = nowMs }) => openedMs + this.#gatherMs - nowMs)
    return Math.min(Infinity, ...inMs.filter((ms) => ms > 0))
  }
}

function enabled(rules: AlertConfig['rules']): AlertConfig['rules'] {
  return rules.filter(({ spec }) => spec.enabled)
}
