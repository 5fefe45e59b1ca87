import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { EndlessStreamError, type Line, type LineLimits, linesOf } from './ndjson-lines.ts'

const LIMITS: LineLimits = { mostBytes: 8, mostPassedOver: 32, mostLines: 4 }

/** What is read of a stream that comes in these pieces, and whether it was given up. */
async function read(pieces: Iterable<string>, limits: Partial<LineLimits> = {}) {
  const stream = Readable.from(
    (function* () {
      for (const piece of pieces) yield Buffer.from(piece)
    })(),
    { objectMode: false },
  )
  const lines: Line[] = []
  try {
    for await (const some of linesOf(stream, { ...LIMITS, ...limits }, setImmediate))
      lines.push(...some)
    return { lines, error: undefined }
  } catch (error) {
    return { lines, error: error instanceof EndlessStreamError ? error.message : error }
  }
}

function* endless(piece: string): Generator<string> {
  for (;;) yield piece
}

test.each([
  [['a\nb'], ['1 a', '2 b']],
  [
    ['a', 'b\n', '\n', 'c\r\n'],
    ['1 ab', '3 c\r'],
  ],
  [['a\n\n\nb\n'], ['1 a', '4 b']],
  [['a\n\n\nb'], ['1 a', '4 b']],
  [['\n \n\t\n'], []],
  [['123456789\nb'], ['1 undefined', '2 b']],
  [
    ['1234', '56789', '0123', '\nb'],
    ['1 undefined', '2 b'],
  ],
  [[], []],
])('%j', async (pieces, expected) => {
  const { lines, error } = await read(pieces)
  expect(lines.map(({ number, text }) => `${number} ${text}`)).toEqual(expected)
  expect(error).toBeUndefined()
})

test('a stream of newlines without an end is given up behind its last line', async () => {
  const { lines, error } = await read(endless('\n'.repeat(1_000)), { mostLines: 1_000_000 })
  expect(lines).toEqual([])
  expect(error).toBe('A stream has at most 1000000 lines')
  const begun = await read(['a\n\n', '\nb\n', 'c'])
  expect(begun.lines).toEqual([
    { number: 1, text: 'a' },
    { number: 4, text: 'b' },
  ])
  expect(begun.error).toBe('A stream has at most 4 lines')
})

test('a line without an end is given up, and what came before it is there', async () => {
  const { lines, error } = await read(
    (function* () {
      yield 'a\n'
      yield* endless(' '.repeat(10))
    })(),
  )
  expect(lines).toEqual([{ number: 1, text: 'a' }])
  expect(error).toBe('Line 2 goes on behind 32 bytes, and a line has at most 8')
})
