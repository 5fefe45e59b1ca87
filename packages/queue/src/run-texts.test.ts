import { expect, test } from 'vitest'
import { runError } from './run-error.ts'
import { safeJson } from './run-fact.ts'
import { MAX_RESULT_BYTES, resultText } from './run-result.ts'

test('JSON that Postgres refuses is mended, and nothing else is changed', () => {
  expect(mend('a\u0000b')).toBe('a\ufffdb')
  expect(mend('half \ud83d pair \udc00')).toBe('half \ufffd pair \ufffd')
  for (const text of ['whole 😀', 'a\\u0000', '\\\\u0000', 'esc \u001b', '\\ud83d', 'plain']) {
    expect(mend({ [text]: text })).toEqual({ [text]: text })
  }
})

test('an error keeps its name, code, message and the stacks of its causes', () => {
  const cause = Object.assign(new TypeError('deep'), { code: 'E_DEEP' })
  const error = runError(new Error('outer', { cause }))
  expect(error).toMatchObject({ name: 'Error', message: 'outer' })
  expect(error.stack).toMatch(/Error: outer[\s\S]*caused by: TypeError: deep/)
  expect(runError(cause).code).toBe('E_DEEP')
})

test('errors are bounded, and anything can be thrown', () => {
  const long = runError(new Error('x'.repeat(100_000)))
  expect(long.message).toHaveLength(8 * 1024)
  expect(long.stack).toHaveLength(8 * 1024)
  expect(runError('text')).toEqual({ name: 'Error', message: 'thrown: text' })
  expect(runError(undefined).message).toBe('thrown: undefined')
  expect(runError({ a: 1 }).message).toBe('thrown: {"a":1}')
  expect(runError(Object.assign(new Error('x'), { message: { no: 'text' } })).message).toBe(
    '{"no":"text"}',
  )
})

test('a result that JSON cannot say or that is too long is replaced by one that says so', () => {
  expect(resultText(undefined)).toBeUndefined()
  expect(resultText({ a: 1 })).toBe('{"a":1}')
  expect(JSON.parse(resultText({ n: 1n }) ?? '')).toHaveProperty('unserialisable')
  const fits = 'y'.repeat(MAX_RESULT_BYTES - 2)
  expect(resultText(fits)).toBe(JSON.stringify(fits))
  const long = resultText(`${fits}y`) ?? ''
  expect(long.length).toBeLessThan(MAX_RESULT_BYTES / 10)
  expect(JSON.parse(long)).toMatchObject({
    truncated: true,
    bytes: MAX_RESULT_BYTES + 1,
    head: expect.stringMatching(/^"yyy/),
  })
  // Two bytes a letter.
  expect(JSON.parse(resultText('ü'.repeat(MAX_RESULT_BYTES / 2)) ?? '')).toMatchObject({
    truncated: true,
    bytes: MAX_RESULT_BYTES + 2,
  })
})

const throwing = (): never => {
  throw new Error('trap')
}
const HOSTILE: [string, unknown][] = [
  ...['message', 'name', 'stack', 'cause', 'code'].map((key): [string, unknown] => [
    `a getter of ${key}`,
    Object.defineProperty(new Error('x'), key, { get: throwing }),
  ]),
  [
    'a proxy',
    new Proxy(new Error('x'), { get: throwing, getPrototypeOf: throwing, has: throwing }),
  ],
  ['a revoked proxy', revoked()],
  ['toString and toJSON', { toString: throwing, toJSON: throwing }],
  [
    'a name that is hostile',
    Object.assign(new Error('x'), { name: { toJSON: throwing, toString: throwing } }),
  ],
  ['no prototype and a circle', circle()],
]

test.each(HOSTILE)('what cannot be shown is an ordinary error: %s', (_what, thrown) => {
  const error = runError(thrown)
  expect(error).toEqual({
    name: 'Error',
    message: 'something that can not be shown was thrown',
  })
})

test.each(HOSTILE)(
  'a result that JSON cannot say because it throws %s is still a result',
  (_what, thrown) => {
    const toJSON = (): never => {
      throw thrown
    }
    expect(JSON.parse(resultText({ toJSON }) ?? '')).toEqual({
      unserialisable: 'something that can not be shown was thrown',
    })
  },
)

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function circle(): unknown {
  const loop = Object.create(null) as Record<string, unknown>
  loop['loop'] = loop
  return loop
}

function mend(value: unknown): unknown {
  return JSON.parse(safeJson(JSON.stringify(value)))
}
