import { expect, test } from 'vitest'
import { readYaml } from './yaml-document.ts'

test.each([
  ['brackets', '['.repeat(300_000), /brackets/],
  ['braces', `a: ${'{b: '.repeat(300)}`, /brackets/],
  ['lists on a line', `${'- '.repeat(50_000)}a`, /marks/],
  ['keys on a line', `a:\n  ${'? '.repeat(50_000)}a`, /marks/],
  [
    'anchors',
    Array.from({ length: 20_000 }, (_, n) => `a${n}: &a${n} ${n}`).join('\n'),
    /20000 anchors/,
  ],
])('%s beyond what people write are refused before they are read', (_what, text, problem) => {
  expect(readYaml(text)).toEqual({ ok: false, problems: [expect.stringMatching(problem)] })
})

test('what people write is read, with brackets in texts and ampersands in commands', () => {
  const text = ['a: &one [1, [2]]', 'b: *one', `c: "${'[]'.repeat(500)}"`, 'd: x && y & z']
  expect(readYaml(text.join('\n'))).toMatchObject({
    ok: true,
    value: { b: [1, [2]], d: 'x && y & z' },
  })
})
