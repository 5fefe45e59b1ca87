import { expect, test } from 'vitest'
import { createLogger, pollLoop, sleep } from './index.ts'

const log = createLogger('test', 'silent')

test('a loop polls until its signal aborts and waits for the poll under way', async () => {
  const stop = new AbortController()
  let polls = 0
  let ended = false
  await pollLoop(
    async () => {
      polls += 1
      if (polls === 3) stop.abort()
      await sleep(5)
      ended = polls === 3
      return 0
    },
    { signal: stop.signal, log, name: 'test' },
  )
  expect({ polls, ended }).toEqual({ polls: 3, ended: true })
})

test('a poll that fails is tried again', async () => {
  const stop = new AbortController()
  let polls = 0
  await pollLoop(
    async () => {
      polls += 1
      if (polls < 3) throw new Error('not yet')
      stop.abort()
      return 0
    },
    { signal: stop.signal, log, name: 'test' },
  )
  expect(polls).toBe(3)
})

test('a long wait ends as soon as the signal aborts', async () => {
  const stop = new AbortController()
  const loop = pollLoop(async () => Number.POSITIVE_INFINITY, {
    signal: stop.signal,
    log,
    name: 'test',
  })
  await sleep(1)
  stop.abort()
  await expect(loop).resolves.toBeUndefined()
})
