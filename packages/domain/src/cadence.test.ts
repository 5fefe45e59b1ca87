import { expect, test } from 'vitest'
import { type Cadence, cadenceKey, parseCadenceKey } from './cadence.ts'

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
