import type { AlertConfig } from '@jadwal/db'
import {
  type AlertRule,
  type AlertState,
  dueMessage,
  isSilenced,
  messageSent,
} from '@jadwal/domain'
import type { Producer } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import { type AlertTarget, alertTargets } from './alert-targets.ts'
import { composeMessage } from './compose-message.ts'
import { sendAlert } from './send-alerts.ts'

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

  /** Enqueues what was noted. What can't be enqueued stays noted: the next round tries again. */
  async send(config: AlertConfig, states: Map<string, AlertState>): Promise<void> {
    const { producer, publicUrl, log, onTrouble } = this.#deps
    // A key that is set anew keeps its place.
    for (const [key, state] of states) {
      const rule = ruleOf(config, state)
      if (!rule || !state.outstanding) continue
      const { kind: event, atMs } = state.outstanding
      try {
        const targets = await this.#targets(config, rule, state)
        await sendAlert(producer, composeMessage(state, { event, atMs, publicUrl }), targets)
        states.set(key, messageSent(state))
        log.info({ rule: rule.name, alertId: state.id, event }, 'message of an alert enqueued')
      } catch (error) {
        onTrouble(error)
      }
    }
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
