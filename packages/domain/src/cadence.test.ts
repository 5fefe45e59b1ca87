import { expect, test } from 'vitest'
import { type Cadence, cadenceKey, cronCadence, parseCadenceKey } from './cadence.ts'

test.each<Cadence>([
  { kind: 'every', everyMs: 90_000, offsetMs: 0 },
  { kind: 'every', everyMs: 1_000, offsetMs: 250 },
  {
    kind: 'cron',
    expression: '0 6 1 * *',
    timezone: 'Asia/Jakarta',
    gap: 'skip',
    fold: 'twice',
  },
])('a key is read back as the cadence it was made of', (cadence) => {
  expect(parseCadenceKey(cadenceKey(cadence))).toEqual(cadence)
})

test.each([
  '',
  'every',
  'every x 0',
  'every 0 0',
  'every 1000',
  'every 1000 Infinity',
  'cron UTC',
  'cron UTC shift never * * * * *',
  'cron UTC push once * * * * *',
  'at noon',
])('%j is no cadence key', (key) => {
  expect(() => parseCadenceKey(key)).toThrow(`no cadence key: ${key}`)
})

const RULE = { timezone: 'Asia/Jakarta', gap: 'shift', fold: 'once' } as const

test('spaces do not make another cadence', () => {
  expect(cadenceKey(cronCadence(' 0\t6  1 * *', RULE))).toBe(
    cadenceKey({ kind: 'cron', expression: '0 6 1 * *', ...RULE }),
  )
})

test('@every is the cadence of an interval; a wrong one is left for nextTick to refuse', () => {
  expect(cronCadence('@every 1m30s', RULE)).toEqual({ kind: 'every', everyMs: 90_000, offsetMs: 0 })
  expect(cronCadence('@every now', RULE)).toMatchObject({ kind: 'cron', expression: '@every now' })
})
