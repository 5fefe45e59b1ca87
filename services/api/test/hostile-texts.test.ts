import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer } from './setup-api.ts'
import { factOf, setupHistory } from './setup-history.ts'

/** Half of a character: JSON says it, and Postgres has no text with it. */
const HALF = '\ud800'

let t: Awaited<ReturnType<typeof setupHistory>>
beforeAll(async () => {
  t = await setupHistory()
})
afterAll(() => t[Symbol.asyncDispose]())

const post = (path: string, body: object): Promise<Answer> =>
  t.api.ask(`/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test.each([HALF, 'no queue', 'x'.repeat(101), ''])(
  'the filter %j is no name, and is refused with its field',
  async (name) => {
    for (const field of ['queue', 'job']) {
      const body = { filter: { [field]: name } }
      for (const refused of [
        await post('dead-letters/redrive', body),
        await post('dead-letters/discard', { ...body, reason: 'x' }),
      ]) {
        expect(refused.status).toBe(400)
        expect(refused.body.errors).toEqual([
          { field: `filter.${field}`, message: expect.stringContaining('must match') },
        ])
      }
      for (const path of ['dead-letters', 'dead-letters/groups']) {
        const query = `${field}=${encodeURIComponent(name.replace(HALF, '\ufffd'))}`
        const refused = await t.api.ask(`/api/v1/${path}?${query}`)
        expect(refused.status).toBe(400)
        expect(refused.body.errors[0].field).toBe(field)
      }
    }
  },
)

test('a reason is kept without what Postgres cannot keep', async () => {
  const dead = factOf('dead', { reason: 'failed' })
  await t.record(dead)
  const discarded = await post('dead-letters/discard', { ids: [dead.id], reason: `a${HALF}b` })
  expect(discarded.body.items).toEqual([{ id: dead.id, discarded: true }])
  const { body } = await t.api.ask(`/api/v1/runs/${dead.id}`)
  expect(body.discarded.reason).toBe('a\ufffdb')
  const paused = await post('pause', { reason: `a${HALF}b` })
  expect(paused.body.pause.reason).toBe('a\ufffdb')
})
