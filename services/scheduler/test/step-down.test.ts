import { askToStepDown } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { StepDown } from '../src/step-down.ts'
import { setupSchedulers } from './setup-scheduler.ts'

/** Longer than a busy machine lets an event loop wait: a term ends because its leader steps down. */
const LEASE_MS = 5_000

type Setup = Awaited<ReturnType<typeof setupSchedulers>>

function leads({ leader }: Setup, instance: string) {
  return eventually(async () => {
    const known = await leader()
    if (known?.instance !== instance) throw new Error(`${known?.instance} leads`)
    return known
  })
}

/** Asks until that term is over: a message may come before its leader listens. */
function stepDown({ redis, prefix, leader }: Setup, term: number): Promise<void> {
  return eventually(async () => {
    await askToStepDown(redis, prefix, { term, by: 'test' })
    if ((await leader())?.term === term) throw new Error(`${term} goes on`)
  })
}

test('a leader that steps down is followed by another, and both terms are told', async () => {
  const setup = await setupSchedulers({ JADWAL_LEASE_MS: String(LEASE_MS) })
  await setup.start('a')
  const first = await leads(setup, 'a')
  await setup.start('b')
  await stepDown(setup, first.term)
  const second = await leads(setup, 'b')
  expect(await setup.terms()).toMatchObject([
    { term: first.term, instance: 'a' },
    { term: first.term, instance: 'a', reason: 'stepped-down' },
    { term: second.term, instance: 'b' },
  ])
})

test('it leads again when nobody else does, and not before others had the time for it', async () => {
  const setup = await setupSchedulers({ JADWAL_LEASE_MS: String(LEASE_MS) })
  await setup.start('a')
  const first = await leads(setup, 'a')
  await stepDown(setup, first.term)
  const second = await leads(setup, 'a')
  expect(second.term).toBeGreaterThan(first.term)
  const stoodBackMs = Date.parse(second.since) - Date.parse(await endOf(setup, first.term))
  expect(stoodBackMs).toBeGreaterThanOrEqual(1_000)
})

async function endOf({ terms }: Setup, term: number): Promise<string> {
  const end = (await terms()).find(
    (fact) => fact['term'] === term && fact['until_at'] !== undefined,
  )
  return String(end?.['until_at'])
}

test('a request ends the term that it names and no other', () => {
  const stepDowns = new StepDown()
  const ended: number[] = []
  stepDowns.heard('7')
  stepDowns.listen(7, () => void ended.push(7))
  stepDowns.heard('6')
  stepDowns.heard('nonsense')
  expect(ended).toEqual([])
  stepDowns.heard('7')
  expect(ended).toEqual([7])
  stepDowns.stopListening()
  stepDowns.heard('7')
  expect(ended).toEqual([7])
})
