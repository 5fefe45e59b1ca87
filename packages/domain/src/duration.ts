import { z } from 'zod'
import { DAY, HOUR, MINUTE, SECOND } from './clock.ts'

const UNIT_MS = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY } as const
const FORM = /^(\d+)(ms|s|m|h|d)$/

/** Milliseconds of a duration such as `90s`, `10m` or `6h`; undefined when it is not one. */
export function parseDurationMs(text: string): number | undefined {
  const match = FORM.exec(text)
  if (!match) return undefined
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
}

/** The shortest way to write a duration: 90000 is `90s`, 3600000 is `1h`. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms !== 0 && ms % UNIT_MS[unit] === 0) return `${ms / UNIT_MS[unit]}${unit}`
  }
  return `${ms}ms`
}

const RULE = 'is no duration: write a whole number and ms, s, m, h or d, for example 90s'

/** A duration in a schedule file: `90s`, `10m`, `6h`, `1d`. Parsed to milliseconds. */
export const Duration = z.string({ error: RULE }).transform((text, ctx) => {
  const ms = parseDurationMs(text)
  if (ms === undefined || !Number.isSafeInteger(ms)) {
    ctx.addIssue({ code: 'custom', message: RULE, input: text })
    return z.NEVER
  }
  return ms
})

/** A duration that is at most so long. */
export function upTo(mostMs: number) {
  return Duration.refine((ms) => ms <= mostMs, {
    error: `must be at most ${formatDuration(mostMs)}`,
  })
}
