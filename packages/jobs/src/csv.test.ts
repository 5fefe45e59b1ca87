import { expect, test } from 'vitest'
import { csvLine } from './csv.ts'

test('cells with commas, quotes and line ends are quoted', () => {
  expect(csvLine(['a,b', 'say "x"', 'two\nlines', 3, undefined])).toBe(
    '"a,b","say ""x""","two\nlines",3,\r\n',
  )
})

test('a text that a spreadsheet would execute is made plain text', () => {
  expect(csvLine(['=HYPERLINK("http://x")', '-1+2', '@a', 'a=b'])).toBe(
    `"'=HYPERLINK(""http://x"")",'-1+2,'@a,a=b\r\n`,
  )
})
