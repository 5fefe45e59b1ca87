import { createLogger } from '@jadwal/runtime'
import { expect, test } from 'vitest'
import { FetchGate } from './fetch-gate.ts'

/** Workers of two queues, and which of them are held. */
function setup() {
  const held = new Set<string>()
  const workers = ['alerts', 'mails'].map((queue) => ({
    queue,
    pause: async () => void held.add(queue),
    resume: async () => void held.delete(queue),
  }))
  return { gate: new FetchGate(workers, createLogger('gate', 'silent')), held }
}

test('messages of alerts are fetched while memory is short, all else is not', async () => {
  const { gate, held } = setup()
  await gate.hold('memory')
  expect([...held]).toEqual(['mails'])
  await gate.release('memory')
  expect([...held]).toEqual([])
})

test('a queue is fetched again when no reason that holds it is left', async () => {
  const { gate, held } = setup()
  await gate.hold('memory')
  await gate.hold('refused')
  expect([...held].toSorted()).toEqual(['alerts', 'mails'])
  await gate.release('refused')
  expect([...held]).toEqual(['mails'])
  await gate.release('memory')
  expect([...held]).toEqual([])
  gate.close()
})
