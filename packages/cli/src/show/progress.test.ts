import { FakeClock } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import type { Terminal } from '../terminal.ts'
import { ProgressBar } from './progress.ts'

function setup(columns: number | undefined) {
  let written = ''
  let nowMs = 0
  const clock = Object.assign(new FakeClock('2026-12-01T00:00:00Z'), { monotonicMs: () => nowMs })
  const terminal = {
    clock,
    errorColumns: () => columns,
    writeError: (text: string) => void (written += text),
  } as unknown as Terminal
  return {
    bar: new ProgressBar(terminal, 'runs'),
    at: (ms: number) => (nowMs = ms),
    written: () => written,
  }
}

test('a terminal has one bar, which goes when it is over', () => {
  const { bar, at, written } = setup(80)
  bar.show({ done: 1, total: 4 })
  at(20)
  bar.show({ done: 2, total: 4 })
  at(150)
  bar.show({ done: 3, total: 4, more: '1 dead' })
  bar.clear()
  expect(written().split('\r')).toEqual([
    '',
    '██████░░░░░░░░░░░░░░░░░░ 1 of 4 runs (25 %)\u001B[K',
    '██████████████████░░░░░░ 3 of 4 runs (75 %), 1 dead\u001B[K',
    '\u001B[K',
  ])
})

test('elsewhere there is a line now and then, and none of what is quick', () => {
  const { bar, at, written } = setup(undefined)
  for (const ms of [0, 5_000, 9_999, 10_000, 15_000, 20_000]) {
    at(ms)
    bar.show({ done: ms, total: null })
  }
  bar.clear()
  expect(written()).toBe('10000 runs\n20000 runs\n')
})
