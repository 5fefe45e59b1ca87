import { findFailureRates } from '@jadwal/db'
import { type AlertRuleSpec, ALERTS_QUEUE, ruleMs } from '@jadwal/domain'
import type { Observation, ObserveDeps } from './observation.ts'

/** Jobs of whose runs too large a share died lately. */
export async function observeFailureRate(
  { db, snapshot }: ObserveDeps,
  { parameters, matchers }: Extract<AlertRuleSpec, { kind: 'failure-rate' }>,
): Promise<Observation> {
  const { rate, minRuns, window } = parameters
  const { nowMs } = snapshot
  const failing = await findFailureRates(db, {
    from: new Date(nowMs - ruleMs(window)),
    // Workers' clocks may be ahead.
    to: new Date(nowMs + 60_000),
    minRuns,
    rate,
    matchers,
    exceptQueue: ALERTS_QUEUE,
  })
  const groups = failing.map(({ job, queue, runs, dead }) => ({
    key: `${queue} ${job}`,
    subject: { job, queue },
    summary: `${Math.round((dead / runs) * 100)} % of the runs of ${job} died: ${dead} of ${runs} in the last ${window}`,
    count: dead,
    examples: [],
  }))
  return { groups, isComplete: true }
}
