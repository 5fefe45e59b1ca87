import type { AlertConfig, Db } from '@jadwal/db'
import { type AlertState, type Clock, SECOND } from '@jadwal/domain'
import type { AlertSnapshot } from '@jadwal/queue'
import { isPostgresTrouble } from '../postgres-trouble.ts'
import { lookBackTo } from './look-back.ts'
import type { Observation } from './observation.ts'
import { observeRule } from './observe-rule.ts'

type Rule = AlertConfig['rules'][number]

/** After so long the history is asked no more in one round. */
const HISTORY_MS = 10 * SECOND

export interface RuleObserverDeps {
  db: Db
  clock: Pick<Clock, 'monotonicMs'>
  onTrouble: (error: unknown) => void
}

export interface Look {
  snapshot: AlertSnapshot
  /** The alerts that there are. */
  states: ReadonlyMap<string, AlertState>
  /** Aborts when another evaluates: what is found from then on is for nothing. */
  lost: AbortSignal
}

/**
 * Looks for what rules are about. One that fails holds up no other; and as the history may be slow, those come
 * first that were asked for longest ago, and what a round has no time for comes in the next.
 */
export class RuleObserver {
  readonly #deps: RuleObserverDeps
  /** By name, the place in the order in which rules were asked for. */
  readonly #asked = new Map<string, number>()
  #count = 0

  constructor(deps: RuleObserverDeps) {
    this.#deps = deps
  }

  /** What Redis knows of rules, by their names. */
  async ofRedis(rules: readonly Rule[], look: Look): Promise<Map<string, Observation>> {
    const found = new Map<string, Observation>()
    for (const rule of rules) await this.#observe(rule, look, found)
    return found
  }

  /** What the history knows of rules, by their names. Those that were not reached are not in it. */
  async ofHistory(rules: readonly Rule[], look: Look): Promise<Map<string, Observation>> {
    const { clock } = this.#deps
    const found = new Map<string, Observation>()
    const untilMs = clock.monotonicMs() + HISTORY_MS
    const last = ({ name }: Rule): number => this.#asked.get(name) ?? 0
    for (const rule of rules.toSorted((a, b) => last(a) - last(b))) {
      if (look.lost.aborted || clock.monotonicMs() >= untilMs) break
      this.#count += 1
      this.#asked.set(rule.name, this.#count)
      if (!(await this.#observe(rule, look, found))) break
    }
    return found
  }

  /** False when Postgres is in trouble, so that others need not be tried. */
  async #observe(rule: Rule, look: Look, found: Map<string, Observation>): Promise<boolean> {
    const { db, onTrouble } = this.#deps
    const { snapshot, states } = look
    const own = [...states.values()].filter((state) => state.rule === rule.name)
    try {
      const fromMs = lookBackTo(rule, own, snapshot.nowMs)
      found.set(rule.name, await observeRule({ db, snapshot }, rule, fromMs))
      return true
    } catch (error) {
      onTrouble(error)
      return !isPostgresTrouble(error)
    }
  }
}
