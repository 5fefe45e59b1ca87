import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, SECOND } from './clock.ts'
import { decideTicks } from './decide-ticks.ts'
import { ScheduleId } from './ids.ts'
import { jitterMs } from './jitter.ts'
import { proposeJitter } from './jitter-proposal.ts'
import { countStarts, highest, perBucket } from './load-ahead.ts'
import { loadGroups, type PlannedSchedule, TooManyTicksError } from './load-groups.ts'
import { loadPeaks } from './load-peaks.ts'
import { ScheduleSpec, type ScheduleSpecInput } from './schedule.ts'

const NOON = Date.parse('2026-10-24T22:00:00Z')
const PERIOD = { fromMs: NOON, toMs: NOON + 6 * HOUR }

/** Does the work of a generator at one go. */
function whole<T>(steps: Generator<undefined, T, undefined>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

function schedule(
  at: number,
  fields: Partial<ScheduleSpecInput>,
  pauses: PlannedSchedule['pauses'] = [],
): PlannedSchedule {
  const spec = ScheduleSpec.parse({ job: 'report.generate', ...fields })
  const id = ScheduleId.parse(`0190b5a0-0000-7000-8000-${String(at).padStart(12, '0')}`)
  const calendars = { freeze: { dates: ['2026-10-25'], spans: [] } }
  return { id, name: `s-${at}`, version: { version: 1, spec, fromMs: 0, calendars }, pauses }
}

function many(count: number, fields: Partial<ScheduleSpecInput>, first = 0): PlannedSchedule[] {
  return Array.from({ length: count }, (_, at) => schedule(first + at, fields))
}

function propose(schedules: PlannedSchedule[]) {
  const groups = whole(loadGroups(schedules, PERIOD))
  return whole(proposeJitter(groups, whole(countStarts(groups, PERIOD)), PERIOD))
}

function startsOf(schedules: PlannedSchedule[]): Uint32Array {
  return whole(countStarts(whole(loadGroups(schedules, PERIOD)), PERIOD))
}

function withJitter(planned: PlannedSchedule, jitter: number | undefined): PlannedSchedule {
  if (jitter === undefined) return planned
  const { job, cron } = planned.version.spec
  // Parsing refuses a jitter that is not shorter than the shortest interval.
  const spec = ScheduleSpec.parse({ job, cron, jitter: `${jitter}ms` })
  return { ...planned, version: { ...planned.version, spec } }
}

/** The seconds that hold something. */
function told(seconds: Uint32Array): string {
  return [...seconds.entries()]
    .flatMap(([at, count]) => (count > 0 ? `${at}: ${count}` : []))
    .join()
}

/** Tick by tick, by what the leader would decide and how long it would let the run wait. */
function bruteForce(schedules: PlannedSchedule[]): Uint32Array {
  const seconds = new Uint32Array((PERIOD.toMs - PERIOD.fromMs) / SECOND)
  for (const { id, version, pauses } of schedules) {
    const nowMs = PERIOD.toMs + HOUR
    const decided = { ...version, spec: { ...version.spec, misfire: AS_IF_IN_TIME } }
    let lastMs = PERIOD.fromMs - HOUR
    for (let more = true; more;) {
      const decision = decideTicks(decided, lastMs, { nowMs, pauses })
      for (const verdict of decision.verdicts) {
        if (verdict.verdict !== 'fire') continue
        const startMs = verdict.tickAtMs + jitterMs(id, version.spec)
        const second = Math.floor((startMs - PERIOD.fromMs) / SECOND)
        if (second >= 0 && second < seconds.length) seconds[second] = (seconds[second] ?? 0) + 1
      }
      ;({ lastMs, more } = decision)
    }
  }
  return seconds
}
const AS_IF_IN_TIME = { policy: 'all', after: 24 * HOUR, limit: 1_000 } as const

const SPECS: Partial<ScheduleSpecInput>[] = [
  { cron: '* * * * *', jitter: '45s' },
  { cron: '*/5 * * * *' },
  { cron: '30 2 * * *', timezone: 'Europe/Berlin', dst: { fold: 'twice' }, jitter: '2h' },
  { every: '7s' },
  { every: '1500ms', offset: '250ms', jitter: '900ms' },
  { every: '10m', startsAt: '2026-10-24T23:15:00Z', endsAt: '2026-10-25T00:30:00Z' },
  { cron: '0 * * * *', jitter: '50m', endsAt: '2026-10-25T00:00:00Z' },
  { cron: '*/10 * * * *', paused: true },
  { cron: '*/10 * * * *', mode: 'shadow' },
  { cron: '*/20 * * * *', calendars: { skip: ['freeze'] } },
  { cron: '*/20 * * * *', timezone: 'Asia/Tokyo', calendars: { only: ['freeze'] } },
]
const PAUSES = [
  [],
  [{ fromMs: NOON - HOUR, untilMs: NOON + 2 * HOUR }],
  [{ fromMs: NOON + HOUR }],
] as const

test('what is counted by group is what counting tick by tick gives', () => {
  const any = fc.tuple(
    fc.nat({ max: SPECS.length - 1 }),
    fc.nat({ max: PAUSES.length - 1 }),
    fc.nat({ max: 1_000_000 }),
  )
  fc.assert(
    fc.property(fc.array(any, { minLength: 1, maxLength: 12 }), (chosen) => {
      const schedules = chosen.map(([which, pause, id]) =>
        schedule(id, SPECS[which] ?? {}, PAUSES[pause]),
      )
      expect(told(startsOf(schedules))).toBe(told(bruteForce(schedules)))
    }),
    { numRuns: 40 },
  )
})

test('peaks say who makes them', () => {
  const groups = whole(
    loadGroups(
      [...many(30, { cron: '0 * * * *' }), ...many(5, { every: '15m', jitter: '1s' }, 100)],
      PERIOD,
    ),
  )
  const seconds = whole(countStarts(groups, PERIOD))
  const peaks = whole(loadPeaks(groups, seconds, { period: PERIOD, bucketMs: MINUTE, count: 3 }))
  expect(peaks[0]).toEqual({
    atMs: NOON,
    ticks: 35,
    schedules: 35,
    cadences: [
      {
        cadence: expect.objectContaining({ expression: '0 * * * *' }) as object,
        ticks: 30,
        schedules: 30,
        names: ['s-0', 's-1', 's-2', 's-3', 's-4'],
      },
      {
        cadence: { kind: 'every', everyMs: 15 * MINUTE, offsetMs: 0 },
        ticks: 5,
        schedules: 5,
        names: ['s-100', 's-101', 's-102', 's-103', 's-104'],
      },
    ],
  })
  expect(peaks.map(({ atMs }) => atMs)).toEqual([NOON, NOON + HOUR, NOON + 2 * HOUR])
  expect(perBucket(seconds, HOUR)).toEqual(Uint32Array.of(50, 50, 50, 50, 50, 50))
})

test('the proposal flattens peaks with jitters that each schedule may have, and foretells what they bring', () => {
  const schedules = [
    ...many(200, { cron: '0 * * * *' }),
    ...many(100, { cron: '* * * * *' }, 1_000),
    ...many(40, { cron: '0 0 * * *', jitter: '10s' }, 2_000),
    ...many(50, { every: '2s' }, 3_000),
  ]
  const groups = whole(loadGroups(schedules, PERIOD))
  const before = whole(countStarts(groups, PERIOD))
  const proposal = whole(proposeJitter(groups, before, PERIOD))
  if (!proposal) throw new Error('nothing is proposed')
  const jitterOf = new Map<string, number>()
  for (const [group, jitter] of proposal.jitters)
    for (const { name } of group.members) jitterOf.set(name, jitter)
  expect([...jitterOf.keys()].some((name) => Number(name.slice(2)) >= 2_000)).toBe(false)
  const changed = schedules.map((each) => withJitter(each, jitterOf.get(each.name)))
  const after = bruteForce(changed)
  expect(told(proposal.seconds)).toBe(told(after))
  expect(highest(before)).toBeGreaterThanOrEqual(350)
  expect(highest(after)).toBeLessThan(100)
})

test('nothing is proposed where nothing is to be gained', () => {
  expect(propose([])).toBeUndefined()
  expect(propose(many(5, { cron: '0 * * * *' }))).toBeUndefined()
  expect(propose(many(50, { every: '1s' }))).toBeUndefined()
  expect(propose(many(50, { cron: '0 * * * *', jitter: '10m' }))).toBeUndefined()
})

test('more ticks than can be held are refused', () => {
  const dense = Array.from({ length: 240 }, (_, at) =>
    schedule(at, { every: '1s', jitter: `${at + 1}ms` }),
  )
  expect(() => whole(loadGroups(dense, PERIOD))).toThrow(TooManyTicksError)
})
