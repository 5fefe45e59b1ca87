import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { newRunId } from '@jadwal/domain'
import { keys, publishCatalogue, registerQueues } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { Queue } from 'bullmq'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { BOARD_ACTS } from '../src/board-acts.ts'
import { BoardAdapter } from '../src/board-adapter.ts'
import { BOARD_READS } from '../src/board-router.ts'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi, type TestApi } from './setup-api.ts'
import { watchCommands } from './watch-commands.ts'

const QUEUE = 'emails'
const PUT = { method: 'PUT' }

async function setup() {
  const api = await setupApi()
  const { redis, prefix } = api
  await publishCatalogue(redis, prefix, [{ ...EMAIL_JOB, redact: ['password'] }])
  await eventually(async () => expect((await shownQueues(api)).length).toBe(3))
  const bull = new Queue(QUEUE, { connection: redis, prefix: keys.bullPrefix(prefix, QUEUE) })
  onTestFinished(() => bull.close())
  return Object.assign(api, {
    bull,
    enqueue: async (more: object = {}): Promise<string> => {
      const payload = { to: 'ana@example.com', template: 'bye', password: 'hunter-two' }
      return (await api.post({ job: EMAIL_JOB.name, payload, ...more })).body.id
    },
    act: (path: string) => api.ask(`/queues/api/queues/${path}`, PUT),
    message: async (id: string) => (await api.ask(`/queues/api/queues/${QUEUE}/${id}`)).body.job,
  })
}

async function shownQueues(api: TestApi) {
  const { body } = await api.ask(`/queues/api/queues?activeQueue=${QUEUE}`)
  return body.queues as { name: string; readOnlyMode: boolean; isPaused: boolean }[]
}

function newId(): string {
  return newRunId(Date.parse('2026-09-01'), new Uint8Array(10))
}

describe('Bull Board', { timeout: 90_000 }, () => {
  test('queues appear by themselves, with their dead letters and the alarms to look at only', async () => {
    await using api = await setup()
    const queues = await shownQueues(api)
    expect(queues.map(({ name, readOnlyMode }) => [name, readOnlyMode])).toEqual([
      ['ticks', true],
      ['emails', false],
      ['emails.dead', true],
    ])
    expect(await api.redis.exists(keys.bullKey(api.prefix, QUEUE, 'id'))).toBe(0)
  })

  test('of all routes of the installed version, these are open and no others', async () => {
    await using api = await setup()
    const adapter = new BoardAdapter()
    createBullBoard({ queues: [new BullMQAdapter(api.bull)], serverAdapter: adapter })
    const open = [...BOARD_READS, ...BOARD_ACTS]
    const closed: string[] = []
    for (const { method, route } of adapter.routes) {
      const path = String(route)
      const isOpen = method === 'get' ? BOARD_READS.includes(path) : BOARD_ACTS.includes(path)
      if (isOpen) open.splice(open.indexOf(path), 1)
      else closed.push(`${String(method)} ${path}`)
    }
    // All that are open are there, with these methods.
    expect(open).toEqual([])
    expect(closed.length).toBeGreaterThan(20)
    const id = await api.enqueue({ delayMs: 3_600_000 })
    const before = await api.redis.hgetall(keys.bullKey(api.prefix, QUEUE, id))
    for (const each of closed) {
      const [method = '', path = ''] = each.split(' ')
      const filled = path
        .replace(':queueName', QUEUE)
        .replace(':jobId', id)
        .replaceAll(/:\w+/g, 'failed')
      const answer = await api.ask(`/queues${filled}`, { method: method.toUpperCase() })
      const refusedWith = method === 'get' ? [403, 404] : [405]
      expect([each, refusedWith.includes(answer.status)]).toEqual([each, true])
      expect([each, answer.body.message]).toEqual([each, answer.body.detail])
    }
    expect(await api.redis.hgetall(keys.bullKey(api.prefix, QUEUE, id))).toEqual(before)
  })

  test('a delayed run is promoted, another removed, with their facts', async () => {
    await using api = await setup()
    const [later, never] = [
      await api.enqueue({ delayMs: 3_600_000 }),
      await api.enqueue({ delayMs: 3_600_000 }),
    ]
    expect((await api.act(`${QUEUE}/${later}/promote`)).status).toBe(200)
    const { body } = await api.ask(`/api/v1/runs/${later}`)
    expect(Date.parse(body.runAt)).toBeLessThanOrEqual(Date.now())
    const again = await api.act(`${QUEUE}/${later}/promote`)
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('/explain')])

    expect((await api.act(`${QUEUE}/${never}/clean`)).status).toBe(200)
    expect((await api.ask(`/api/v1/runs/${never}`)).body.state).toBe('cancelled')
    expect((await api.act(`${QUEUE}/${never}/clean`)).status).toBe(409)
    expect((await api.act(`${QUEUE}/${newId()}/clean`)).status).toBe(404)
  })

  test('a run that waits for a retry is retried, one that does not is not', async () => {
    await using api = await setup()
    const id = await api.enqueue({ delayMs: 3_600_000 })
    expect((await api.act(`${QUEUE}/${id}/retry`)).status).toBe(409)
    await api.redis.hset(keys.bullKey(api.prefix, QUEUE, id), { atm: 1, ats: 1 })
    expect((await api.act(`${QUEUE}/${id}/retry`)).status).toBe(200)
    const score = Number(await api.redis.zscore(keys.bullKey(api.prefix, QUEUE, 'delayed'), id))
    expect(score / 4_096).toBeLessThanOrEqual(Date.now() + 1_000)
  })

  test('a queue is paused and resumed, and shown so at once', async () => {
    await using api = await setup()
    const isPaused = async () =>
      (await shownQueues(api)).find(({ name }) => name === QUEUE)?.isPaused
    expect(await isPaused()).toBe(false)
    expect((await api.act(`${QUEUE}/pause`)).status).toBe(200)
    expect(await isPaused()).toBe(true)
    expect((await api.ask('/api/v1/queues/emails')).body.pause).toMatchObject({ by: 'admin' })
    expect((await api.act(`${QUEUE}/resume`)).status).toBe(200)
    expect(await isPaused()).toBe(false)
  })

  test('nothing on the alarms or on dead letters can be changed', async () => {
    await using api = await setup()
    for (const queue of ['ticks', 'emails.dead']) {
      for (const act of [
        'pause',
        'resume',
        `${newId()}/retry`,
        `${newId()}/clean`,
        `${newId()}/promote`,
      ]) {
        const { status, body } = await api.act(`${queue}/${act}`)
        expect([queue, act, status]).toEqual([queue, act, 403])
        expect(body.message).toContain(`Nothing in ${queue} can be changed here`)
      }
    }
  })

  test('no secret is shown, whichever field carries it, and nothing of a job that nobody knows', async () => {
    await using api = await setup()
    const id = await api.enqueue()
    const key = keys.bullKey(api.prefix, QUEUE, id)
    await api.redis.hset(key, {
      failedReason: 'no: hunter-two was wrong',
      stacktrace: JSON.stringify(['Error: hunter-two\n at x']),
      progress: JSON.stringify({ tried: 'hunter-two' }),
      returnvalue: JSON.stringify({ $encrypted: '1.k1.a.b' }),
    })
    const shown = await api.message(id)
    expect(shown.data.payload).toEqual({
      to: 'ana@example.com',
      template: 'bye',
      password: '[redacted]',
    })
    expect(shown).toMatchObject({
      failedReason: 'no: [redacted] was wrong',
      progress: { tried: '[redacted]' },
      returnValue: '[encrypted]',
    })
    expect(JSON.stringify(shown)).not.toContain('hunter-two')
    const list = (await api.ask(`/queues/api/queues?activeQueue=${QUEUE}&jobsPerPage=11`)).text
    expect(list).toContain(id)
    expect(list).not.toContain('hunter-two')

    await api.redis.hset(key, { name: 'nobody.knows' })
    const hidden = await api.message(id)
    expect(hidden).toMatchObject({
      data: '[hidden]',
      failedReason: '[hidden]',
      progress: '[hidden]',
    })
    expect(JSON.stringify(hidden)).not.toContain('hunter-two')
    await api.redis.hset(key, {
      name: EMAIL_JOB.name,
      opts: JSON.stringify({ x: 'hunter-two', attempts: 3 }),
    })
    expect((await api.message(id)).opts).toEqual({ attempts: 3 })
  })

  test('an encrypted payload is not shown, and a large one is cut', async () => {
    await using api = await setup()
    const id = newId()
    const add = (payload: unknown) => api.bull.add(EMAIL_JOB.name, { v: 1, payload }, { jobId: id })
    await add({ $encrypted: '1.k1.a.b' })
    expect((await api.message(id)).data.payload).toBe('[encrypted]')
    await api.bull.remove(id)
    await add({ to: 'x'.repeat(100_000) })
    const { data } = await api.message(id)
    expect(data.cut).toContain('characters as JSON')
    expect(JSON.stringify(data).length).toBeLessThan(30_000)
    await api.bull.remove(id)
    // Nobody knows where in it the password is.
    await api.bull.add(EMAIL_JOB.name, { v: 2, body: { password: 'hunter-two' } }, { jobId: id })
    expect((await api.message(id)).data).toBe('[hidden]')
  })

  test('a hundred queues cost no more with ten tabs than with one, and never a list of clients', async () => {
    await using api = await setup()
    const many = Array.from({ length: 100 }, (_, at) => `q-${at}`)
    await registerQueues(api.redis, api.prefix, many)
    await eventually(async () => expect((await shownQueues(api)).length).toBe(3 + 200))
    for (const queue of many.slice(0, 10))
      await api.redis.lpush(keys.bullKey(api.prefix, queue, 'wait'), newId())
    await using watch = await watchCommands(inject('redisUrl'))
    // Who evaluates alerts counts all queues, too: that is to be somebody else.
    const lease = keys.alertsLeaseKey(api.prefix)
    await api.redis.set(lease, 'another api')
    await eventually(() =>
      expect(watch.commands.some((words) => isAskedFor(words, lease))).toBe(true),
    )
    const count = (): number =>
      watch.commands.filter((words) => words.some((word) => word.includes(api.prefix))).length
    /** What was sent before this was answered has been seen. */
    const seen = async (): Promise<number> => {
      const mark = newId()
      await api.redis.echo(mark)
      await eventually(() => expect(watch.commands.some(([, word]) => word === mark)).toBe(true))
      return count()
    }
    const poll = (queue: string, tab: number) =>
      api.ask(`/queues/api/queues?activeQueue=${queue}&page=1&jobsPerPage=10`, {
        headers: { 'x-tab': String(tab) },
      })
    await api.ask('/api/v1/queues/emails/pause', { method: 'POST' })
    await api.ask('/api/v1/queues/emails/resume', { method: 'POST' })
    const before = await seen()
    const fromMs = performance.now()
    await poll('q-0', 0)
    const ofOne = (await seen()) - before
    await Promise.all(many.slice(0, 10).map((queue, tab) => poll(queue, tab)))
    const ofTen = (await seen()) - before - ofOne
    // Each 5 s one count of all queues, of a dozen commands each.
    const counts = Math.ceil((performance.now() - fromMs) / 5_000) * 14 * 104
    expect(ofOne).toBeLessThan(counts + 40)
    // And the pages of messages, each by itself.
    expect(ofTen).toBeLessThan(counts + 10 * 40)
    const lists = watch.commands.filter(
      ([name, word]) => name === 'client' && /^list$/i.test(word ?? ''),
    )
    expect(lists).toEqual([])
  })
})

/** By a script, since the test itself sets it. */
function isAskedFor([name, ...words]: string[], key: string): boolean {
  return name !== 'set' && words.includes(key)
}
