import { expect, test } from 'vitest'
import { renderLogLine } from './log-line.ts'

const time = new Date(2026, 8, 1, 10, 20, 30, 45).toISOString()

test('a line of pino becomes time, level, sentence and fields', () => {
  const line = JSON.stringify({
    level: 'info',
    time,
    service: 'worker',
    instance: 'host-1',
    runId: '0199',
    queue: 'two words',
    list: [1],
    msg: 'run ended',
  })
  expect(renderLogLine(line, false)).toBe(
    '10:20:30.045 INFO  run ended runId=0199 queue="two words" list=[1]',
  )
})

test('an error is shown with the top of its stack', () => {
  const err = { type: 'TypeError', message: 'no', stack: 'TypeError: no\n    at f (x.ts:1:2)' }
  const line = JSON.stringify({ level: 'error', time, msg: 'failed', err })
  expect(renderLogLine(line, false)).toBe(
    '10:20:30.045 ERROR failed TypeError: no\n    at f (x.ts:1:2)',
  )
})

test('a warning shows its error without the stack', () => {
  const error = { name: 'Error', message: 'again', stack: 'Error: again\n    at f (x.ts:1:2)' }
  const line = JSON.stringify({ level: 'warn', time, msg: 'attempt failed', error })
  expect(renderLogLine(line, false)).toBe('10:20:30.045 WARN  attempt failed Error: again')
})

test('colours are there only when asked for', () => {
  const line = JSON.stringify({ level: 'warn', time, msg: 'careful' })
  expect(renderLogLine(line, false)).not.toContain('\u001B')
  expect(renderLogLine(line, true)).toContain('\u001B[33mWARN \u001B[0m')
})

test.each(['plain words', '{"not": "a log line"}', '{broken', ''])(
  'what is no line of pino stays as it is: %s',
  (line) => expect(renderLogLine(line, true)).toBe(line),
)
