import { recordFacts } from '@jadwal/db'
import { systemClock } from '@jadwal/domain'
import { keys, Lease, subscribe } from '@jadwal/queue'
import { inject, expect, onTestFinished, test } from 'vitest'
import { changesIn, entriesOf } from './setup-audit.ts'
import { setupHistory } from './setup-history.ts'

const NOW = '2026-09-01T10:00:00.000Z'

async function setup() {
  const history = await setupHistory()
  const { redis, prefix, ask } = history.api
  const lead = async (instance: string) => {
    const lease = new Lease(redis, systemClock, { prefix, leaseMs: 60_000, instance })
    const result = await lease.take(NOW)
    if (!result.taken) throw new Error('somebody leads already')
    return { lease, term: result.reign.term }
  }
  const heard: string[] = []
  /** Calls back at each request to step down. */
  const onRequest = (act: () => Promise<unknown>): void => {
    const hear = (term: string): void => {
      heard.push(term)
      void act()
    }
    const channels = { [keys.stepDownChannel(prefix)]: hear }
    const subscription = subscribe({ url: inject('redisUrl'), channels, onError: () => undefined })
    onTestFinished(() => subscription.close())
  }
  onTestFinished(() => history[Symbol.asyncDispose]())
  return { ...history, lead, heard, onRequest, stepDown: () => ask(PATH, { method: 'POST' }) }
}

const PATH = '/api/v1/leader/step-down'

test('a leader that hears at last makes room, and the answer names who leads next', async () => {
  const { lead, heard, onRequest, stepDown } = await setup()
  const first = await lead('a')
  let next: { term: number } | undefined
  onRequest(async () => {
    if (heard.length !== 2) return
    await first.lease.release(NOW, 'stepped-down')
    next = await lead('b')
  })
  const answer = await stepDown()
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({ instance: 'b', term: next?.term, since: NOW })
  expect(new Set(heard)).toEqual(new Set([String(first.term)]))
})

test('of two who ask at once the audit log says of one that the leader changed', async () => {
  const { api, lead, heard, onRequest, stepDown } = await setup()
  const first = await lead('a')
  let next: { term: number } | undefined
  onRequest(async () => {
    if (heard.length !== 2) return
    await first.lease.release(NOW, 'stepped-down')
    next = await lead('b')
  })
  const answers = await Promise.all([stepDown(), stepDown()])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const entries = await entriesOf(api, { subject: 'leader', count: 2 })
  const [before, after] = [
    { instance: 'a', term: first.term, since: NOW },
    { instance: 'b', term: next?.term, since: NOW },
  ]
  expect(changesIn(entries)).toMatchObject([{ before, after }])
  expect(entries).toContainEqual(expect.objectContaining({ before: after, after }))
})

test('when no other scheduler takes over, the answer says so', async () => {
  const { lead, heard, onRequest, stepDown } = await setup()
  const first = await lead('a')
  onRequest(async () => {
    if (heard.length !== 1) return
    await first.lease.release(NOW, 'stepped-down')
    await lead('a')
  })
  const answer = await stepDown()
  expect(answer.status).toBe(504)
  expect(answer.body).toMatchObject({
    type: 'urn:jadwal:problem:no-successor',
    detail: expect.stringContaining('a has stepped down, and no other scheduler took over'),
  })
})

test('a leader that does not hear is told apart from one without a successor', async () => {
  const { lead, stepDown } = await setup()
  await lead('a')
  const answer = await stepDown()
  expect(answer.status).toBe(504)
  expect(answer.body.detail).toContain('a has not stepped down')
})

test('where nobody leads, nobody can step down', async () => {
  const { stepDown } = await setup()
  const answer = await stepDown()
  expect(answer.status).toBe(409)
  expect(answer.body.type).toBe('urn:jadwal:problem:no-leader')
})

test('the history of terms tells who led, from when to when, and why it ended', async () => {
  const { api, db } = await setup()
  const term = { kind: 'term', term: 7, instance: 'a', from_at: NOW, until_at: NOW }
  await recordFacts(db, [JSON.stringify({ ...term, reason: 'stepped-down' })])
  expect((await api.ask('/api/v1/leader/terms')).body.items).toEqual([
    { term: 7, instance: 'a', from: NOW, until: NOW, reason: 'stepped-down' },
  ])
})
