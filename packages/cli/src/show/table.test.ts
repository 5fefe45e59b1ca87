import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { painter, wantsColor } from './colors.ts'
import { oneLine } from './one-line.ts'
import { type Column, Table } from './table.ts'

interface Row {
  id: string
  what: string
  count: number
}
const COLUMNS: Column<Row>[] = [
  { title: 'id', of: ({ id }) => id, isWhole: true },
  { title: 'what', of: ({ what }) => what, color: () => 'red' },
  { title: 'count', of: ({ count }) => count, align: 'right' },
]
const ROWS: Row[] = [
  { id: 'a', what: 'a short one', count: 7 },
  { id: 'bbb', what: 'one that is too long for this terminal', count: 1_000 },
]

function text(columns: number | undefined, isColored = false): string {
  return new Table(COLUMNS, { paint: painter(isColored), columns }).text(ROWS)
}

test('columns are aligned, and whole where there is no terminal', () => {
  expect(text(undefined)).toBe(
    [
      'ID   WHAT                                    COUNT',
      'a    a short one                                 7',
      'bbb  one that is too long for this terminal   1000',
      '',
    ].join('\n'),
  )
})

test('a terminal gets what fits, and never half of what people copy', () => {
  const lines = text(24).trimEnd().split('\n')
  expect(lines).toEqual([
    'ID   WHAT          COUNT',
    'a    a short one       7',
    'bbb  one that is…   1000',
  ])
  expect(text(5)).toContain('bbb')
})

test('later rows keep the columns of the first, without titles', () => {
  const table = new Table(COLUMNS, { paint: painter(false), columns: undefined })
  table.text(ROWS)
  expect(table.text([{ id: 'c', what: 'x', count: 1 }])).toBe(`c    x${' '.repeat(43)}1\n`)
})

test('colours change no width, and are there only where they are wanted', () => {
  const colored = text(undefined, true)
  expect(colored).toContain('\u001B[31ma short one\u001B[0m')
  expect(stripVTControlCharacters(colored)).toBe(text(undefined))
  expect(wantsColor({}, true)).toBe(true)
  expect(wantsColor({}, false)).toBe(false)
  expect(wantsColor({ NO_COLOR: '1' }, true)).toBe(false)
  expect(wantsColor({ TERM: 'dumb' }, true)).toBe(false)
})

test('what others wrote steers no terminal', () => {
  expect(oneLine('a\u001B[2Jb\nc\u202Ed')).toBe('a [2Jb c d')
})
