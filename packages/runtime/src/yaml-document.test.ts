import { expect, test } from 'vitest'
import { readYaml } from './yaml-document.ts'

test('YAML and JSON are read alike', () => {
  expect(readYaml('a: [1, x]')).toEqual({ ok: true, value: { a: [1, 'x'] } })
  expect(readYaml('{ "a": [1, "x"] }')).toEqual({ ok: true, value: { a: [1, 'x'] } })
})

test('what is no YAML is a problem that names its line', () => {
  expect(readYaml('a: 1\nb: [1,\n')).toEqual({
    ok: false,
    problems: [expect.stringMatching(/^line \d: /)],
  })
})

test('a key that is there twice is a problem', () => {
  expect(readYaml('a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n')).toEqual({
    ok: false,
    problems: ['line 5: the key "c" is there twice'],
  })
})

test('anchors that stand for more than a memory holds are refused', () => {
  const levels = Array.from(
    { length: 9 },
    (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(', ')}]`,
  )
  const bomb = ['a0: &a0 [lol]', ...levels].join('\n')
  const read = readYaml(bomb)
  expect(read).toEqual({ ok: false, problems: [expect.stringContaining('alias')] })
})
