import { expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from './clock.ts'
import { decideTicks, type Verdict } from './decide-ticks.ts'
import { ScheduleId } from './ids.ts'
import { jitterMs } from './jitter.ts'
import { ScheduleSpec, type ScheduleSpecInput, type ScheduleVersion } from './schedule.ts'

const NOON = Date.parse('2026-09-01T12:00:00Z')

function version(
  fields: Partial<ScheduleSpecInput>,
  ruled: { fromMs?: number; untilMs?: number } = {},
): ScheduleVersion {
  const cadence = 'cron' in fields || 'every' in fields ? {} : { cron: '* * * * *' }
  const spec = ScheduleSpec.parse({ job: 'report.generate', ...cadence, ...fields })
  return { version: 1, spec, fromMs: 0, ...ruled }
}

function time(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 19).replace(/:00$/, '')
}

/** Verdicts in short: `fire 12:00` or `misfire 11:58-11:59 ×2`. */
function told(verdicts: Verdict[]): string[] {
  return verdicts.map((verdict) =>
    verdict.verdict === 'fire'
      ? `fire ${time(verdict.tickAtMs)}`
      : `${verdict.reason} ${time(verdict.tickAtMs)}-${time(verdict.untilMs)} ×${verdict.count}`,
  )
}

function decide(of: ScheduleVersion, lastMs: number, nowMs: number = NOON): string[] {
  return told(decideTicks(of, lastMs, { nowMs }).verdicts)
}

test('decides nothing when nothing is owed, and leaves the last tick alone', () => {
  expect(decideTicks(version({}), NOON, { nowMs: NOON + 59_999 })).toEqual({
    verdicts: [],
    lastMs: NOON,
    more: false,
  })
})

test('fires the tick of this instant', () => {
  const decision = decideTicks(version({}), NOON - MINUTE, { nowMs: NOON })
  expect(decision).toEqual({
    verdicts: [{ verdict: 'fire', tickAtMs: NOON }],
    lastMs: NOON,
    more: false,
  })
})

test('fires nothing when the clock runs backwards', () => {
  expect(decide(version({}), NOON, NOON - HOUR)).toEqual([])
})

test('a tick fires late as long as misfire.after has not passed', () => {
  const daily = version({ cron: '0 12 * * *', misfire: { policy: 'skip', after: '10m' } })
  expect(decide(daily, NOON - DAY, NOON + 10 * MINUTE)).toEqual(['fire 12:00'])
  expect(decide(daily, NOON - DAY, NOON + 10 * MINUTE + 1)).toEqual(['misfire 12:00-12:00 ×1'])
})

test('of the misfires, once fires the newest and skips the rest as one range', () => {
  expect(decide(version({}), NOON - 5 * MINUTE - 1)).toEqual([
    'misfire 11:55-11:57 ×3',
    'fire 11:58',
    'fire 11:59',
    'fire 12:00',
  ])
})

test('skip fires no misfire', () => {
  expect(decide(version({ misfire: { policy: 'skip' } }), NOON - 5 * MINUTE)).toEqual([
    'misfire 11:56-11:58 ×3',
    'fire 11:59',
    'fire 12:00',
  ])
})

test('all fires the newest misfires up to its limit', () => {
  const all = version({ misfire: { policy: 'all', limit: 2 } })
  expect(decide(all, NOON - 6 * MINUTE)).toEqual([
    'misfire 11:55-11:56 ×2',
    'fire 11:57',
    'fire 11:58',
    'fire 11:59',
    'fire 12:00',
  ])
  expect(decide(all, NOON - 3 * MINUTE)).toEqual(['fire 11:58', 'fire 11:59', 'fire 12:00'])
})

test('misfires older than within are skipped, whatever the policy', () => {
  const all = version({ misfire: { policy: 'all', within: '3m' } })
  expect(decide(all, NOON - 6 * MINUTE)[0]).toBe('misfire 11:55-11:56 ×2')
  const once = version({ cron: '0 9 * * *', misfire: { policy: 'once', within: '2h' } })
  expect(decide(once, NOON - DAY)).toEqual(['misfire 09:00-09:00 ×1'])
  expect(decide(once, NOON - DAY, NOON - HOUR)).toEqual(['fire 09:00'])
})

test('a paused schedule and one in shadow mode skip all that is owed as one range', () => {
  expect(decide(version({ paused: true }), NOON - 3 * MINUTE)).toEqual(['paused 11:58-12:00 ×3'])
  expect(decide(version({ mode: 'shadow' }), NOON - 3 * MINUTE)).toEqual(['shadow 11:58-12:00 ×3'])
  expect(decide(version({ mode: 'shadow', paused: true }), NOON - MINUTE)).toEqual([
    'paused 12:00-12:00 ×1',
  ])
})

test('a version owes only the ticks of its own time, its end included', () => {
  const ownTime = { fromMs: NOON - 3 * MINUTE, untilMs: NOON - MINUTE }
  const all = version({ misfire: { policy: 'all' } }, ownTime)
  expect(decideTicks(all, 0, { nowMs: NOON })).toMatchObject({ lastMs: NOON - MINUTE })
  expect(decide(all, 0)).toEqual(['fire 11:58', 'fire 11:59'])
  expect(decide(all, NOON - MINUTE)).toEqual([])
})

test('a schedule fires from startsAt to endsAt, both included', () => {
  const dated = version({
    startsAt: '2026-09-01T11:59:00Z',
    endsAt: '2026-09-01T12:01:00Z',
    misfire: { after: '1h' },
  })
  expect(decide(dated, 0, NOON + HOUR)).toEqual(['fire 11:59', 'fire 12:00', 'fire 12:01'])
  expect(decide(dated, 0, NOON - 2 * MINUTE)).toEqual([])
  expect(decide(version({ startsAt: null, endsAt: null }), NOON - MINUTE)).toEqual(['fire 12:00'])
})

test('an interval owes its ticks like a cron expression', () => {
  expect(decide(version({ every: '90s', offset: '30s' }), NOON - 2 * MINUTE)).toEqual([
    'fire 11:59',
  ])
})

/** All portions of what is owed. */
function decideAll(of: ScheduleVersion, lastMs: number, nowMs: number) {
  const portions: Verdict[][] = []
  let last = lastMs
  for (;;) {
    const decision = decideTicks(of, last, { nowMs })
    portions.push(decision.verdicts)
    last = decision.lastMs
    if (!decision.more) break
  }
  expect(decide(of, last, nowMs)).toEqual([])
  return portions
}

test.each([
  ['once', { policy: 'once' as const }, 1],
  ['skip', { policy: 'skip' as const }, 0],
  ['all', { policy: 'all' as const, limit: 100 }, 100],
])(
  'a long outage of a dense schedule is decided in portions, under %s exactly',
  (_, misfire, fires) => {
    // Its misfires end right at, before and behind the border of a portion.
    for (const seconds of [9_999, 10_000, 10_001, 10_060, 10_061, 10_100, 25_000]) {
      const now = NOON + seconds * SECOND
      const portions = decideAll(version({ every: '1s', misfire }), NOON, now)
      const fired = portions.flat().filter((verdict) => verdict.verdict === 'fire')
      const skipped = portions.flat().filter((verdict) => verdict.verdict === 'skip')
      const misfired = seconds - 61
      expect(fired.map(({ tickAtMs }) => tickAtMs)).toEqual(
        Array.from({ length: 61 + fires }, (_unused, index) => now - (60 + fires - index) * SECOND),
      )
      expect(skipped.reduce((sum, { count }) => sum + count, 0)).toBe(misfired - fires)
      expect(skipped.length).toBeLessThanOrEqual(Math.ceil(seconds / 9_900))
      expect(skipped[0]?.tickAtMs).toBe(NOON + SECOND)
      expect(skipped.at(-1)?.untilMs).toBe(now - (61 + fires) * SECOND)
    }
  },
)

test('a long pause of a dense schedule is a range each portion', () => {
  const portions = decideAll(version({ every: '1s', paused: true }), NOON, NOON + 24_000 * SECOND)
  expect(portions.flat().map((verdict) => 'count' in verdict && verdict.count)).toEqual([
    10_000, 10_000, 4_000,
  ])
})

test('jitter is the same part of its range for every tick of a schedule', () => {
  const spec = ScheduleSpec.parse({ job: 'a', cron: '0 * * * *', jitter: '30s' })
  const ids = Array.from({ length: 50 }, (_, index) =>
    ScheduleId.parse(`0198c5a0-0000-4000-8000-0000000000${index + 10}`),
  )
  const waits = ids.map((id) => jitterMs(id, spec))
  expect(waits).toEqual(ids.map((id) => jitterMs(id, spec)))
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...waits)).toBeLessThan(30 * SECOND)
  expect(new Set(waits).size).toBeGreaterThan(40)
  const without = ScheduleSpec.parse({ job: 'a', cron: '0 * * * *' })
  expect(ids.map((id) => jitterMs(id, without))).toEqual(ids.map(() => 0))
})
