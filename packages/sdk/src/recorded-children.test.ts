import { randomBytes } from 'node:crypto'
import { newRunId } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob, type JobContext } from './index.ts'
import { runJob } from './testing.ts'

const newId = (): string => newRunId(Date.now(), randomBytes(10))

function jobOf(handler: (payload: object, ctx: JobContext) => unknown) {
  return defineJob({ name: 'tested', queue: 'tests', payload: z.object({}), handler })
}

test('ten thousand children, equal ones and different ones, end soon, each with a key of its own', async () => {
  const count = 10_000
  const job = jobOf(async (_, ctx) => {
    const equal = Array.from({ length: count }, () => ({ to: 'all' }))
    const different = equal.map((_each, to) => ({ to }))
    await ctx.enqueueMany({ name: 'mail.send', queue: 'mails' }, equal)
    for (const payload of different) await ctx.enqueue({ name: 'mail.send' }, payload)
    return await ctx.enqueueMany({ name: 'mail.send' }, different, {
      ids: different.map(() => newId()),
    })
  })
  const startedMs = performance.now()
  const { enqueued, state } = await runJob(job, {}, { timeoutMs: 60_000 })
  expect(performance.now() - startedMs).toBeLessThan(20_000)
  expect(state).toBe('succeeded')
  expect(enqueued).toHaveLength(3 * count)
  expect(new Set(enqueued.slice(0, 2 * count).map((each) => each.idempotencyKey)).size).toBe(
    2 * count,
  )
  expect(new Set(enqueued.map(({ id }) => id)).size).toBe(3 * count)
}, 60_000)

test('a child that is enqueued again by its id or key is the first one, per job', async () => {
  const id = newId()
  const job = jobOf(async (_, ctx) => [
    await ctx.enqueue({ name: 'a' }, 1, { id }),
    await ctx.enqueue({ name: 'a' }, 2, { id }),
    await ctx.enqueue({ name: 'b' }, 3, { id }),
    await ctx.enqueue({ name: 'a' }, 4, { idempotencyKey: 'mine' }),
    await ctx.enqueue({ name: 'a' }, 5, { idempotencyKey: 'mine' }),
    await ctx.enqueue({ name: 'b' }, 6, { idempotencyKey: 'mine' }),
  ])
  const { enqueued, result } = await runJob(job, {})
  expect(enqueued.map(({ payload }) => payload)).toEqual([1, 3, 4, 6])
  const ids = enqueued.map((each) => each.id)
  expect(result).toEqual([id, id, id, ids[2], ids[2], ids[3]])
})
