import { getEventListeners, getMaxListeners } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
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

test('any number of loops wait on one signal without a warning of Node, and leave no listener', async () => {
  const stop = new AbortController()
  const warnings: Error[] = []
  const heard = (warning: Error): void => {
    // Others of this process may have other ones.
    if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning)
  }
  process.on('warning', heard)
  onTestFinished(() => void process.off('warning', heard))
  const signal = AbortSignal.any([stop.signal])
  const most = getMaxListeners(signal)
  const loops = Array.from({ length: 30 }, () =>
    pollLoop(async () => 60_000, { signal, log, name: 'test' }),
  )
  await sleep(20)
  expect(getEventListeners(signal, 'abort')).toHaveLength(30)
  stop.abort()
  await Promise.all(loops)
  expect(warnings).toEqual([])
  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(getMaxListeners(signal)).toBe(most)
})
