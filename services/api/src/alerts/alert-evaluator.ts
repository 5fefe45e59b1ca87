import { randomBytes } from 'node:crypto'
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
import {
  alertKey,
  type AlertState,
  type Clock,
  HOUR,
  isOver,
  MINUTE,
  newRunId,
  SECOND,
  stepAlert,
} from '@jadwal/domain'
import { type AlertSnapshot, AlertStore, type Producer, takeAlertSnapshot } from '@jadwal/queue'
import { type Logger, rateLimitedErrors } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import { isPostgresTrouble } from '../postgres-trouble.ts'
import { alertChanges, tellChanges } from './alert-changes.ts'
import { ended, silentEnd } from './alert-end.ts'
import { AlertOutlet } from './alert-outlet.ts'
import { limitGroups } from './limit-groups.ts'
import { lookBackTo, seenUntilMs } from './look-back.ts'
import type { Observation } from './observation.ts'
import { observeRule } from './observe-rule.ts'

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
 * runs again, which is to say none. While Postgres is away rules are known from memory, what is in Redis is
 * judged as ever, and what only Postgres knows stays as it was.
 */
export class AlertEvaluator {
  readonly #deps: AlertEvaluatorDeps
  readonly #store: AlertStore
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
    if (!(await this.#store.hold())) {
      this.#states = undefined
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
    const nowMs = await this.#now()
    await this.#refreshConfig(nowMs)
    const config = this.#config
    if (!config) return Infinity
    const { redis, prefix } = this.#deps
    const snapshot = await takeAlertSnapshot(redis, prefix, nowMs)
    this.#states ??= await this.#takeOver(nowMs)
    const before = this.#states
    const after = await this.#step(config, { before, snapshot })
    await this.#outlet.decide(config, after, nowMs)
    if (!(await this.#write(before, after))) return 0
    await tellChanges(this.#deps, alertChanges(before, after))
    await this.#send(config, after)
    await this.#record(nowMs)
    return this.#nextDueMs(nowMs)
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

  /** The alerts after a look at every rule. */
  async #step(
    config: AlertConfig,
    { before, snapshot }: { before: ReadonlyMap<string, AlertState>; snapshot: AlertSnapshot },
  ): Promise<Map<string, AlertState>> {
    const after = new Map<string, AlertState>()
    const { nowMs } = snapshot
    const seen: string[] = []
    for (const rule of config.rules) {
      const own = [...before.values()].filter((state) => state.rule === rule.name)
      const { groups, isComplete } = rule.spec.enabled
        ? await this.#observe(rule, { own, snapshot })
        : { groups: [], isComplete: true }
      if (isComplete) seen.push(rule.name)
      const limited = limitGroups(groups, new Set(own.map(({ group }) => group.key)))
      const found = new Map(limited.map((group) => [group.key, group]))
      for (const key of new Set([...own.map(({ group }) => group.key), ...found.keys()])) {
        const step = { nowMs, rule, seen: found.get(key), isComplete }
        const kept = before.get(alertKey({ rule: rule.name, group: { key } }))
        const old = kept && isOver(kept) ? undefined : kept
        const state = stepAlert(old, step, () => newRunId(nowMs, randomBytes(10)))
        if (state) after.set(alertKey(state), rule.spec.enabled ? state : silentEnd(state, nowMs))
      }
    }
    await this.#noteSeen(config, seen, snapshot)
    this.#endOfUnknownRules(config, before, nowMs)
    return after
  }

  async #observe(
    rule: AlertConfig['rules'][number],
    { own, snapshot }: { own: readonly AlertState[]; snapshot: AlertSnapshot },
  ): Promise<Observation> {
    const fromMs = lookBackTo(rule, own, snapshot.nowMs)
    const deps = { db: this.#deps.db, snapshot }
    const seen = await this.#askPostgres(() => observeRule(deps, rule, fromMs))
    return seen ?? { groups: [], isComplete: false }
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

  /** A rule that was deleted takes its alerts along. */
  #endOfUnknownRules(
    { rules }: AlertConfig,
    before: ReadonlyMap<string, AlertState>,
    nowMs: number,
  ): void {
    const known = new Set(rules.map(({ name }) => name))
    for (const state of before.values())
      if (!known.has(state.rule)) this.#unrecorded.set(state.id, ended(state, nowMs))
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

  async #send(config: AlertConfig, states: Map<string, AlertState>): Promise<void> {
    const before = new Map(states)
    await this.#outlet.send(config, states)
    await this.#write(before, states)
  }

  /** Brings Postgres up to date; alerts that are over leave Redis then. */
  async #record(nowMs: number): Promise<void> {
    const states = [...this.#unrecorded.values()]
    const recorded = await this.#askPostgres(async () => {
      await recordAlerts(this.#deps.db, states)
      if (nowMs >= this.#nextTidyMs) await deleteOldAlerts(this.#deps.db, new Date(nowMs))
      return true
    })
    if (!recorded) return
    if (nowMs >= this.#nextTidyMs) this.#nextTidyMs = nowMs + TIDY_EACH_MS
    for (const state of states)
      if (this.#unrecorded.get(state.id) === state) this.#unrecorded.delete(state.id)
    const over = [...(this.#states ?? [])].flatMap(([key, state]) => (isOver(state) ? [key] : []))
    if (await this.#store.save([], over)) for (const key of over) this.#states?.delete(key)
    else this.#states = undefined
  }

  #nextDueMs(nowMs: number): number {
    const gathering = [...(this.#states?.values() ?? [])].filter(
      ({ phase, sent }) => phase === 'open' && sent === 0,
    )
    const inMs = gathering.map(({ openedMs = nowMs }) => openedMs + this.#gatherMs - nowMs)
    return Math.min(Infinity, ...inMs.filter((ms) => ms > 0))
  }
}
