import { z } from 'zod'
import { AlertMatchers, fits, matchesSubject, type AlertSubject } from './alert-matchers.ts'
import { DAY } from './clock.ts'

const INSTANT = 'must be an instant such as 2026-01-31T08:00:00Z'
const Instant = z.iso.datetime({ offset: true, error: INSTANT })
const LONGEST_MS = 366 * DAY

/** A time for which nothing is sent of some alerts. */
export const AlertSilenceSpec = z
  .strictObject({
    /** Which alerts: by the name of their rule, and what they are about. */
    matchers: AlertMatchers.extend({ rule: AlertMatchers.shape.job }).prefault({}),
    from: Instant,
    until: z.iso.datetime({ offset: true, error: `${INSTANT}: a silence has an end` }),
    reason: z.string().max(500).optional(),
  })
  .check((ctx) => {
    const { from, until } = ctx.value
    const lengthMs = Date.parse(until) - Date.parse(from)
    const fail = (message: string) =>
      ctx.issues.push({ code: 'custom', path: ['until'], message, input: until })
    if (lengthMs <= 0) fail('must be later than from')
    if (lengthMs > LONGEST_MS) fail('must be at most 366 days after from')
  })
export type AlertSilenceSpec = z.output<typeof AlertSilenceSpec>

/** Whether a silence holds at an instant (ms) for the alerts of a rule about a subject. */
export function isSilenced(
  { matchers, from, until }: AlertSilenceSpec,
  { rule, subject }: { rule: string; subject: AlertSubject },
  nowMs: number,
): boolean {
  if (nowMs < Date.parse(from) || nowMs >= Date.parse(until)) return false
  const { rule: rules, ...about } = matchers
  return fits(rules, rule) && matchesSubject(about, subject)
}
