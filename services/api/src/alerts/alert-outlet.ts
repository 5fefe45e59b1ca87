import type { AlertConfig } from '@jadwal/db'
import {
  type AlertRule,
  type AlertState,
  DAY,
  dueMessage,
  isSilenced,
  messageSent,
} from '@jadwal/domain'
import { type Producer, RedisUnavailableError } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import { type AlertTarget, alertTargets } from './alert-targets.ts'
import { composeMessage } from './compose-message.ts'
import { sendAlert, type SentAlert } from './send-alerts.ts'

/**
 * A message that could not be enqueued for so long is old news, and the claims of its runs' ids are gone. The
 * next message of its alert is due as ever.
 */
const GIVEN_UP_AFTER_MS = DAY

export interface AlertOutletDeps {
  producer: Producer
  log: Logger
  publicUrl: string | undefined
  /** How long the first message of an alert waits for more of the same. */
  gatherMs: number
  /** What these schedules say in their field `alert`; nothing while Postgres is away. */
  addressesOf: (schedules: readonly string[]) => Promise<string[]>
  onTrouble: (error: unknown) => void
}

/** Decides which messages of alerts are due, and enqueues their runs. */
export class AlertOutlet {
  readonly #deps: AlertOutletDeps

  constructor(deps: AlertOutletDeps) {
    this.#deps = deps
  }

  /** Notes of each alert the message that is due, where somebody is to get it and nothing silences it. */
  async decide(config: AlertConfig, states: Map<string, AlertState>, nowMs: number): Promise<void> {
    const { gatherMs } = this.#deps
    for (const [key, state] of states) {
      const rule = ruleOf(config, state)
      if (!rule || state.outstanding) continue
      const kind = dueMessage(state, { nowMs, rule, gatherMs })
      if (kind === undefined) continue
      const about = { rule: rule.name, subject: state.group.subject }
      if (config.silences.some(({ spec }) => isSilenced(spec, about, nowMs))) continue
      const hasTargets = (await this.#targets(config, rule, state)).length > 0
      if (hasTargets)
        states.set(key, { ...state, outstanding: { kind, atMs: nowMs }, changedMs: nowMs })
      else if (kind === 'resolved') states.set(key, { ...state, endTold: true, changedMs: nowMs })
    }
  }

  /** Enqueues what was noted. What can't be enqueued stays noted for a day: the next round tries again. */
  async send(config: AlertConfig, states: Map<string, AlertState>, nowMs: number): Promise<void> {
    // A key that is set anew keeps its place.
    for (const [key, state] of states) {
      const rule = ruleOf(config, state)
      if (!rule || !state.outstanding) continue
      try {
        const sent = await this.#enqueue(
          state,
          state.outstanding,
          await this.#left(config, rule, state),
        )
        states.set(key, afterSending(state, sent, nowMs))
        if (sent.errors.some((error) => error instanceof RedisUnavailableError)) return
      } catch (error) {
        this.#deps.onTrouble(error)
      }
    }
  }

  /** Those whose run is not known to be enqueued. */
  async #left(config: AlertConfig, rule: AlertRule, state: AlertState): Promise<AlertTarget[]> {
    const told = new Set(state.outstanding?.told)
    const targets = await this.#targets(config, rule, state)
    return targets.filter(({ name }) => !told.has(name))
  }

  async #enqueue(
    state: AlertState,
    { kind: event, atMs }: NonNullable<AlertState['outstanding']>,
    targets: readonly AlertTarget[],
  ): Promise<SentAlert> {
    const { producer, publicUrl, log, onTrouble } = this.#deps
    const message = composeMessage(state, { event, atMs, publicUrl })
    const sent = await sendAlert(producer, message, targets)
    for (const error of sent.errors) onTrouble(error)
    if (sent.told.length > 0) {
      const { rule, id: alertId } = state
      log.info({ rule, alertId, event, channels: sent.told }, 'message of an alert enqueued')
    }
    return sent
  }

  async #targets(
    { channels }: AlertConfig,
    rule: AlertRule,
    { group }: AlertState,
  ): Promise<AlertTarget[]> {
    const { schedule } = group.subject
    const about = [...(schedule === undefined ? [] : [schedule]), ...(group.schedules ?? [])]
    return alertTargets(channels, rule, await this.#deps.addressesOf(about))
  }
}

function ruleOf({ rules }: AlertConfig, state: AlertState): AlertRule | undefined {
  return rules.find(({ name }) => name === state.rule)
}

function afterSending(state: AlertState, { told, errors }: SentAlert, nowMs: number): AlertState {
  const { outstanding } = state
  if (!outstanding || errors.length === 0 || nowMs - outstanding.atMs >= GIVEN_UP_AFTER_MS)
    return messageSent(state)
  if (told.length === 0) return state
  const allTold = [...(outstanding.told ?? []), ...told]
  return { ...state, outstanding: { ...outstanding, told: allTold }, changedMs: nowMs }
}
