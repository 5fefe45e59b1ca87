import { expect, test } from 'vitest'
import { cadenceTicks } from './expected-schedule.ts'
import { cronTicks } from './simple-cron.ts'
import { writtenCadence } from './written-cadence.ts'

function ticks(cron: string, timezone: string, [from, until]: [string, string]): string[] {
  const found = cronTicks({ cron, timezone }, Date.parse(from), Date.parse(until))
  return found.map((at) => new Date(at).toISOString())
}

test('an interval has the multiples of itself, moved by its offset, after the start up to the end', () => {
  const cadence = writtenCadence({ every: '2s', offset: '1s' })
  expect(cadenceTicks(cadence, 1_000, 5_000)).toEqual([3_000, 5_000])
  expect(cadenceTicks(writtenCadence({ every: '2m' }), -1, 240_000)).toEqual([0, 120_000, 240_000])
})

test('a cron expression has the instants that read so on the clock of its zone', () => {
  const day: [string, string] = ['2026-06-01T00:00:00Z', '2026-06-02T00:00:00Z']
  expect(ticks('15 0 * * *', 'Asia/Kathmandu', day)).toEqual(['2026-06-01T18:30:00.000Z'])
  expect(ticks('30 20,40 6 * * *', 'UTC', day)).toEqual([
    '2026-06-01T06:20:30.000Z',
    '2026-06-01T06:40:30.000Z',
  ])
  expect(ticks('*/20 4-5 * * 1-5', 'UTC', day)).toHaveLength(6)
  expect(ticks('0 12 * * 0', 'UTC', day)).toEqual([])
  expect(ticks('0 12 * * 7', 'UTC', ['2026-06-07T11:00:00Z', '2026-06-07T13:00:00Z'])).toHaveLength(
    1,
  )
})

test('of two day fields one is enough, unless one of them begins with an asterisk', () => {
  const days: [string, string] = ['2026-06-03T00:00:00Z', '2026-06-06T00:00:00Z']
  expect(ticks('0 12 3 * 5', 'UTC', days)).toHaveLength(2)
  expect(ticks('0 12 */3 * 5', 'UTC', days)).toEqual([])
  expect(ticks('0 12 3 * *', 'UTC', days)).toHaveLength(1)
})

test('it refuses what it does not read', () => {
  const hour: [string, string] = ['2026-06-01T00:00:00Z', '2026-06-01T01:00:00Z']
  expect(() => ticks('0 0 L * *', 'UTC', hour)).toThrow('L: not a day')
  expect(() => ticks('0 0 * *', 'UTC', hour)).toThrow('5 or 6 fields')
  expect(() => writtenCadence({ every: '1500ms' })).toThrow('1500ms')
  const change: [string, string] = ['2026-03-29T00:00:00Z', '2026-03-29T06:00:00Z']
  expect(() => ticks('30 2 * * *', 'Europe/Berlin', change)).toThrow('changes in this period')
  expect(ticks('0 * * * *', 'Europe/Berlin', change)).toHaveLength(6)
})
