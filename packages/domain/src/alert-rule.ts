import { z } from 'zod'
import { AlertMatchers } from './alert-matchers.ts'
import { DAY, MINUTE, SECOND } from './clock.ts'
import { formatDuration, parseDurationMs } from './duration.ts'
import { AlertName } from './names.ts'

/** A duration as written, such as `90s`, within bounds (ms). */
function between(leastMs: number, mostMs: number) {
  const rule = `must be a duration from ${formatDuration(leastMs)} to ${formatDuration(mostMs)}, such as 90s, 10m or 6h`
  return z.string(rule).refine((text) => {
    const ms = parseDurationMs(text)
    return ms !== undefined && ms >= leastMs && ms <= mostMs
  }, rule)
}

const Window = between(SECOND, DAY)
const Threshold = z.int().min(1).max(1_000_000)
const Hold = between(0, DAY)

/** What every rule says. */
const common = {
  description: z.string().max(500).optional(),
  /** Which jobs, queues, schedules and labels it is about; all when left out. */
  matchers: AlertMatchers.prefault({}),
  /** The pause between two messages of an alert that goes on. */
  repeatEvery: between(SECOND, 30 * DAY).default('4h'),
  /** The channels that are told; those marked `default` when left out, nobody when empty. */
  channels: z.array(AlertName).max(20).optional(),
  enabled: z.boolean().default(true),
}

function ruleOf<K extends string, P extends z.ZodObject>(kind: K, parameters: P, hold: string) {
  return z.strictObject({
    kind: z.literal(kind),
    /** What the rule looks for. */
    parameters: parameters.prefault({} as z.input<P>),
    /** How long it must hold before an alert opens, and be over before it closes. */
    for: Hold.default(hold),
    ...common,
  })
}

/** An alert rule, each duration as written. */
export const AlertRuleSpec = z
  .discriminatedUnion('kind', [
    ruleOf(
      'dead-letter',
      z.strictObject({
        /** So many letters that nobody has settled … */
        threshold: Threshold.default(1),
        /** … died within so long. */
        window: Window.default('1h'),
        groupBy: z.enum(['fingerprint', 'job', 'queue']).default('fingerprint'),
      }),
      '0s',
    ),
    ruleOf('late-tick', z.strictObject({ window: Window.default('1h') }), '0s'),
    ruleOf(
      'missed-tick',
      z.strictObject({ threshold: Threshold.default(1), window: Window.default('1h') }),
      '0s',
    ),
    ruleOf(
      'failure-rate',
      z.strictObject({
        /** The share of ended runs that died, from 0 to 1. */
        rate: z.number().gt(0).max(1).default(0.5),
        /** Fewer runs say nothing. */
        minRuns: z.int().min(1).max(1_000_000).default(20),
        window: between(MINUTE, DAY).default('15m'),
      }),
      '0s',
    ),
    ruleOf(
      'oldest-waiting',
      z.strictObject({ after: between(SECOND, 30 * DAY).default('15m') }),
      '0s',
    ),
    ruleOf('no-leader', z.strictObject({}), '30s'),
    ruleOf(
      'no-worker',
      z.strictObject({
        /** Also for queues of the catalogue in which nothing waits. */
        idle: z.boolean().default(false),
      }),
      '1m',
    ),
    ruleOf(
      'outbox',
      z.strictObject({
        /** The age of the oldest fact that is not recorded. */
        lag: between(SECOND, 30 * DAY).default('5m'),
        /** Entries that wait. */
        depth: z.int().min(1).max(1_000_000_000).default(1_000_000),
      }),
      '0s',
    ),
    ruleOf('fuse-open', z.strictObject({}), '0s'),
    ruleOf('rejected-facts', z.strictObject({}), '0s'),
  ])
  .check((ctx) => {
    const { kind, matchers } = ctx.value
    for (const key of Object.keys(matchers) as (keyof AlertMatchers)[])
      if (!MATCHABLE[kind].includes(key))
        ctx.issues.push({
          code: 'custom',
          path: ['matchers', key],
          message: `is not possible for ${kind}: ${able(kind)}`,
          input: matchers[key],
        })
  })
export type AlertRuleSpec = z.output<typeof AlertRuleSpec>
export type AlertRuleKind = AlertRuleSpec['kind']

/** What each kind can be limited to. */
const MATCHABLE: Record<AlertRuleKind, readonly (keyof AlertMatchers)[]> = {
  'dead-letter': ['job', 'queue', 'schedule', 'labels'],
  'late-tick': ['job', 'queue', 'schedule', 'labels'],
  'missed-tick': ['job', 'queue', 'schedule', 'labels'],
  'failure-rate': ['job', 'queue'],
  'oldest-waiting': ['queue'],
  'no-leader': [],
  'no-worker': ['queue'],
  outbox: ['queue'],
  'fuse-open': ['job', 'queue'],
  'rejected-facts': ['queue'],
}

function able(kind: AlertRuleKind): string {
  const keys = MATCHABLE[kind]
  return keys.length === 0 ? 'it takes no matchers' : `it takes ${keys.join(', ')}`
}

/** A rule with its name. */
export interface AlertRule {
  name: string
  spec: AlertRuleSpec
}

/** The ms of a duration that a rule has checked. */
export function ruleMs(text: string): number {
  return parseDurationMs(text) ?? 0
}

/** Rules of which each alert tells of things that happened, not of how something stands. */
export function isOfEvents(kind: AlertRuleKind): boolean {
  return kind === 'dead-letter' || kind === 'late-tick' || kind === 'missed-tick'
}
