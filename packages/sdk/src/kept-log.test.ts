import { LogLine } from '@jadwal/domain'
import { FakeClock } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { JobLog } from './job-context.ts'
import { KeptLog, keptLog } from './kept-log.ts'
import { maskOf } from './secret-mask.ts'

function setup(secrets: string[] = []) {
  const written: unknown[][] = []
  const method =
    (level: string) =>
    (...args: unknown[]) =>
      void written.push([level, ...args])
  const target: JobLog = {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
  }
  const clock = new FakeClock()
  const kept = new KeptLog(clock, maskOf(secrets))
  const lines = () => z.array(LogLine).parse(JSON.parse(kept.toJson() ?? '[]'))
  return { clock, kept, written, lines, log: keptLog(target, kept) }
}

function get(): never {
  throw new Error('trap')
}

test('lines go where they went, and are kept with their time, level, sentence and facts', () => {
  const { clock, kept, written, lines, log } = setup()
  expect(kept.toJson()).toBeUndefined()
  log.info('begun')
  clock.advance(1_500)
  log.error({ step: 2, at: new Date(0) }, 'went wrong')
  expect(written).toEqual([
    ['info', 'begun'],
    ['error', { step: 2, at: new Date(0) }, 'went wrong'],
  ])
  const [first, second] = lines()
  expect(first).toMatchObject({ level: 'info', message: 'begun' })
  expect(second).toMatchObject({
    level: 'error',
    message: 'went wrong',
    facts: { step: 2, at: '1970-01-01T00:00:00.000Z' },
  })
  expect(Date.parse(second?.at ?? '') - Date.parse(first?.at ?? '')).toBe(1_500)
})

test('the last hundred lines stay, and the first tells how many were dropped', () => {
  const { lines, log } = setup()
  for (let at = 1; at <= 130; at += 1) log.debug(`line ${at}`)
  expect(lines()).toHaveLength(101)
  expect(lines()[0]).toMatchObject({ level: 'warn', message: '30 earlier lines were dropped' })
  expect([lines()[1]?.message, lines().at(-1)?.message]).toEqual(['line 31', 'line 130'])
})

test('16 KiB in all stay, whatever is logged', () => {
  const { kept, lines, log } = setup()
  const huge = { list: Array.from({ length: 10_000 }, () => 'ü'.repeat(5_000)) }
  for (let at = 0; at < 60; at += 1) log.info(huge, 'm'.repeat(100_000))
  expect(Buffer.byteLength(kept.toJson() ?? '')).toBeLessThan(16 * 1024 + 200)
  expect(lines().length).toBeGreaterThan(3)
  expect(lines().at(-1)).toMatchObject({ facts: { truncated: true } })
})

test('what is logged is kept as it was then', () => {
  const { lines, log } = setup()
  const facts = { step: 1 }
  log.info(facts, 'on the way')
  facts.step = 2
  expect(lines()[0]).toMatchObject({ facts: { step: 1 } })
})

test('secrets are masked, also where a text is cut', () => {
  const { kept, log } = setup(['hunter22'])
  log.info({ hunter22: ['hunter22', new Error('hunter22')], n: 22 }, 'key hunter22')
  log.info(`${'x'.repeat(1_995)}hunter22`)
  expect(kept.toJson()).not.toContain('hunt')
  expect(kept.toJson()).toContain('***')
})

const circle: Record<string, unknown> = {}
circle['self'] = circle
const dense: unknown[] = []
for (let at = 0; at < 100; at += 1) dense.push(dense)
const HOSTILE: [string, object][] = [
  ['a circle', circle],
  ['a dense circle', dense],
  ['a bigint', { n: 12n, nan: Number.NaN }],
  ['a getter that throws', Object.defineProperty({}, 'x', { get, enumerable: true })],
  ['a proxy', new Proxy({}, { get, ownKeys: get, getPrototypeOf: get, has: get })],
  ['toJSON that throws', { toJSON: get }],
  ['functions and symbols', { f: () => 1, s: Symbol('s') }],
  ['an error with causes', new Error('outer', { cause: new Error('inner') })],
  ['bytes', { body: Buffer.alloc(1_000_000) }],
]

test.each(HOSTILE)('%s is kept in a form that JSON can say', (_what, facts) => {
  const { kept, lines, log } = setup()
  log.warn(facts, 'look')
  expect(lines()).toMatchObject([{ level: 'warn', message: 'look' }])
  expect(kept.toJson()?.length).toBeLessThan(8_000)
})

test('a log that cannot write something is given what is kept of it', () => {
  const clock = new FakeClock()
  const kept = new KeptLog(clock, undefined)
  const written: unknown[] = []
  const write = (facts: unknown): void => void written.push(JSON.stringify(facts))
  const log = keptLog({ debug: write, info: write, warn: write, error: write }, kept)
  log.info(Object.defineProperty({ a: 1 }, 'x', { get, enumerable: true }), 'look')
  expect(written).toEqual(['{"facts":{"a":1,"x":"[can not be shown]"}}'])
})

test('an error alone is its own sentence', () => {
  const { lines, log } = setup()
  log.error(new TypeError('no such file'))
  expect(lines()[0]).toMatchObject({
    message: 'no such file',
    facts: { err: { name: 'TypeError', message: 'no such file' } },
  })
})

test('what no typed program may pass is kept as a text', () => {
  const { lines, log } = setup()
  const loose = log.info as (value: unknown) => void
  for (const value of [undefined, null, 7]) loose(value)
  expect(lines().map(({ message }) => message)).toEqual(['undefined', 'null', '7'])
})
