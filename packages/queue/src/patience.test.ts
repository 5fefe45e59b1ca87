import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Patience } from './patience.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function unheard(_error?: Error): void {}

function setup() {
  // Never connected: who waits is told by the test alone what Redis says.
  const patience = new Patience(new Redis({ lazyConnect: true }))
  return {
    /** Waits for something that is not answered before the test says so. */
    ask: () => {
      let answer = unheard
      const asked = new Promise<void>((resolve, reject) => {
        answer = (error) => (error ? reject(error) : resolve())
      })
      const atMs = performance.now()
      const call = { answer, isOver: false, waitedMs: 0, error: '' }
      const over = (): void => {
        call.isOver = true
        call.waitedMs = performance.now() - atMs
      }
      patience.for(asked).then(over, (error: Error) => {
        over()
        call.error = error.message
      })
      return call
    },
  }
}

test('a call that nothing answers is given up after 1 to 1.25 s, whenever it began', async () => {
  const { ask } = setup()
  const calls = [ask()]
  for (const ms of [1, 99, 149, 2, 400]) {
    await vi.advanceTimersByTimeAsync(ms)
    calls.push(ask())
  }
  await vi.advanceTimersByTimeAsync(1_250)
  for (const { waitedMs, error } of calls) {
    expect(error).toBe('no answer within a second')
    expect(waitedMs).toBeGreaterThanOrEqual(1_000)
    expect(waitedMs).toBeLessThanOrEqual(1_250)
  }
})

test.each([
  ['an answer', undefined],
  ['an error of what was asked', new Error('WRONGTYPE of a key')],
])('%s to anybody starts the second of all anew', async (_what, error) => {
  const { ask } = setup()
  const silent = ask()
  await vi.advanceTimersByTimeAsync(900)
  const heard = ask()
  await vi.advanceTimersByTimeAsync(50)
  heard.answer(error)
  await vi.advanceTimersByTimeAsync(950)
  expect(heard).toMatchObject({ isOver: true, waitedMs: 50, error: error?.message ?? '' })
  expect(silent.isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(300)
  expect(silent.error).toBe('no answer within a second')
})

test('a connection that breaks is no answer', async () => {
  const { ask } = setup()
  const silent = ask()
  const broken = ask()
  await vi.advanceTimersByTimeAsync(900)
  broken.answer(new Error('Connection is closed.'))
  await vi.advanceTimersByTimeAsync(350)
  expect(broken.error).toBe('Connection is closed.')
  expect(silent).toMatchObject({ error: 'no answer within a second', waitedMs: 1_250 })
})

test('time in which the event loop stood still counts as one slice', async () => {
  vi.useRealTimers()
  const { ask } = setup()
  const call = ask()
  const until = performance.now() + 1_500
  while (performance.now() < until);
  // Due before the second slice is, however late both are.
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(call.isOver).toBe(false)
  call.answer()
  await vi.waitFor(() => expect(call.isOver).toBe(true), { timeout: 30_000 })
  expect(call.error).toBe('')
})
