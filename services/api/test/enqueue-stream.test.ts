import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { publishCatalogue } from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { bearer, makeToken } from './setup-access.ts'
import { setupApi, TOKEN, type TestApi } from './setup-api.ts'

const NDJSON = 'application/x-ndjson'
const GOOD = { job: 'email.send', payload: { to: 'ana@example.com', template: 'bye' } }

let redis: TestRedis
let api: TestApi

beforeAll(async () => {
  redis = await startTestRedis({ appendonly: 'no' })
  api = await setupApi({ REDIS_URL: redis.url, JADWAL_MAX_PAYLOAD_BYTES: '2048' })
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await redis[Symbol.asyncDispose]()
})

/** A stream of runs to the api, and the lines that it answers. */
function open(token = TOKEN) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': NDJSON }
  const req = request(`${api.url}/api/v1/runs/batch`, { method: 'POST', headers })
  req.on('error', () => undefined)
  const answers = new Promise<AsyncIterator<string>>((resolve) => {
    req.once('response', (res) => {
      res.on('error', () => undefined)
      resolve(createInterface({ input: res })[Symbol.asyncIterator]())
    })
  })
  // oxlint-disable-next-line typescript/no-explicit-any -- a line has one of several forms
  const next = async (): Promise<any> => {
    const { value, done } = await (await answers).next()
    return done === true ? undefined : JSON.parse(value)
  }
  return { req, send: (line: unknown) => void req.write(`${JSON.stringify(line)}\n`), next }
}

/** All that is answered to a whole stream. */
async function answersTo(body: string) {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': NDJSON }
  const answer = await fetch(`${api.url}/api/v1/runs/batch`, { method: 'POST', headers, body })
  return (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

async function waiting(): Promise<number> {
  return await api.redis.llen(`{${api.prefix}:emails}:emails:wait`)
}

test('a line is answered while others still come in, and its run is in the queue by then', async () => {
  const before = await waiting()
  const { req, send, next } = open()
  send(GOOD)
  expect(await next()).toMatchObject({ line: 1, state: 'queued' })
  expect(await waiting()).toBe(before + 1)
  send(GOOD)
  const second = await next()
  expect(second).toMatchObject({ line: 2, state: 'queued' })
  expect((await api.ask(`/api/v1/runs/${second.id}`)).body).toMatchObject({ state: 'queued' })
  req.end()
  expect(await next()).toBeUndefined()
})

test('a line that is wrong is named with its fields, and the others are enqueued all the same', async () => {
  const before = await waiting()
  const lines = [
    JSON.stringify({ ...GOOD, idempotencyKey: 'same' }),
    '{ "job": ',
    '',
    JSON.stringify({ job: 'no.such' }),
    JSON.stringify({ ...GOOD, payload: { to: 'nobody' } }),
    JSON.stringify({ ...GOOD, idempotencyKey: 'same', payload: { to: 'b@c.de', template: 'bye' } }),
    JSON.stringify({ ...GOOD, payload: { ...GOOD.payload, password: 'x'.repeat(3_000) } }),
    JSON.stringify({ ...GOOD, payload: { ...GOOD.payload, password: 'x'.repeat(2_000_000) } }),
    JSON.stringify({ ...GOOD, idempotencyKey: 'same' }),
    JSON.stringify({ ...GOOD, delayMs: -1 }),
    JSON.stringify(GOOD),
  ]
  const answers = await answersTo(lines.join('\r\n'))
  expect(answers.map(({ line }) => line)).toEqual([1, 2, 4, 5, 6, 7, 8, 9, 10, 11])
  const kinds = answers.map(({ problem }) => problem?.type.replace('urn:jadwal:problem:', ''))
  expect(kinds).toEqual([
    undefined,
    'malformed-json',
    'unknown-job',
    'invalid-payload',
    'idempotency-conflict',
    'payload-too-large',
    'payload-too-large',
    undefined,
    'bad-request',
    undefined,
  ])
  expect(answers[4].problem.errors[0]).toMatchObject({ field: 'idempotencyKey', value: 'same' })
  expect(answers[8].problem.errors[0]).toMatchObject({ field: 'delayMs' })
  expect(answers[7]).toEqual({ line: 9, id: answers[0].id, existing: true })
  expect(await waiting()).toBe(before + 2)
})

test('what was sent when the connection broke can be sent again, and is there once', async () => {
  const before = await waiting()
  const runs = Array.from({ length: 20 }, (_, at) => ({ ...GOOD, idempotencyKey: `broken-${at}` }))
  const { req, send, next } = open()
  for (const run of runs.slice(0, 10)) send(run)
  for (let at = 0; at < 10; at += 1) await next()
  req.write('{"job":"email.send","pay')
  req.destroy()
  const answers = await answersTo(runs.map((run) => JSON.stringify(run)).join('\n'))
  const existing = answers.filter((answer) => answer.existing === true)
  expect(existing.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(await waiting()).toBe(before + 20)
})

test('a stream of many thousand runs keeps their order', async () => {
  const body = Array.from({ length: 3_000 }, () => JSON.stringify(GOOD)).join('\n')
  const answers = await answersTo(body)
  expect(answers).toHaveLength(3_000)
  const ids = answers.map(({ id }) => id)
  const places = ids.slice(0, 500)
  const queued = await api.redis.lrange(`{${api.prefix}:emails}:emails:wait`, 0, -1)
  expect(new Set(ids).size).toBe(3_000)
  expect(queued.toReversed().filter((id) => places.includes(id))).toEqual(places)
})

test('an endless stream of empty lines is given up, and so is an endless line', async () => {
  for (const [piece, words] of [
    ['\n'.repeat(65_536), 'A stream has at most 1000000 lines'],
    [' '.repeat(65_536), 'Line 2 goes on behind 33554432 bytes'],
  ] as const) {
    const { req, send, next } = open()
    send(GOOD)
    expect(await next()).toMatchObject({ line: 1, state: 'queued' })
    const pump = (): void => {
      while (!req.destroyed && req.write(piece));
    }
    req.on('drain', pump)
    pump()
    const problem = { type: 'urn:jadwal:problem:payload-too-large' }
    const last = await next()
    expect(last).toMatchObject({ afterLine: 1, problem })
    expect(last.problem.detail).toContain(words)
    // Nobody reads on: the connection is ended from there.
    await eventually(() => expect(req.destroyed).toBe(true), { timeoutMs: 20_000 })
  }
}, 60_000)

test('a compressed stream is refused before anything is read', async () => {
  const headers = { 'content-type': NDJSON, 'content-encoding': 'gzip' }
  const init = { method: 'POST', headers, body: 'x' }
  const { status, body } = await api.ask('/api/v1/runs/batch', init)
  expect([status, body.type]).toEqual([415, 'urn:jadwal:problem:unsupported-media-type'])
})

test('no more streams than allowed are served at once; one that ends or breaks off makes room', async () => {
  const { token } = await makeToken(api, { name: 'other', role: 'operator' })
  const hold = async (count: number, by: string) => {
    const held = Array.from({ length: count }, () => open(by))
    for (const { send, next } of held) {
      send(GOOD)
      expect(await next()).toMatchObject({ line: 1, state: 'queued' })
    }
    return held
  }
  const held = await hold(12, TOKEN)
  const init = {
    method: 'POST',
    headers: { 'content-type': NDJSON },
    body: JSON.stringify({ job: 'no.such' }),
  }
  const status = async () => (await api.ask('/api/v1/runs/batch', init)).status
  const greedy = await api.ask('/api/v1/runs/batch', init)
  expect(greedy.status).toBe(503)
  expect(greedy.body.detail).toContain('admin has 12 of them')

  held.push(...(await hold(4, token)))
  const headers = { ...init.headers, ...bearer(token) }
  const refused = await api.ask('/api/v1/runs/batch', { ...init, headers })
  expect(refused.status).toBe(503)
  expect(refused.body.type).toBe('urn:jadwal:problem:too-many-streams')
  expect(refused.headers.get('retry-after')).toBe('10')
  expect((await api.post(GOOD)).status).toBe(202)

  held[0]?.req.end()
  expect(await held[0]?.next()).toBeUndefined()
  const last = open()
  last.send(GOOD)
  expect(await last.next()).toMatchObject({ line: 1, state: 'queued' })
  expect(await status()).toBe(503)

  last.req.destroy()
  await eventually(async () => expect(await status()).toBe(202))
  for (const { req } of held) req.destroy()
})

test('a stream whose client goes without having read its answers makes room', async () => {
  const piece = `${JSON.stringify({ job: 'no.such' })}\n`.repeat(1_000)
  const deaf = Array.from({ length: 12 }, () => connect(Number(new URL(api.url).port), '127.0.0.1'))
  for (const socket of deaf) {
    socket.on('error', () => undefined)
    socket.write(
      `POST /api/v1/runs/batch HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: ${NDJSON}\r\nContent-Length: 1000000000\r\n\r\n`,
    )
    const pump = (): void => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', pump)
    pump()
    await once(socket, 'data')
    socket.pause()
  }
  const init = { method: 'POST', headers: { 'content-type': NDJSON }, body: '{}' }
  const status = async () => (await api.ask('/api/v1/runs/batch', init)).status
  expect(await status()).toBe(503)
  // Nobody takes their answers: they stand still, as what they were sent does.
  let sent = -1
  await eventually(
    () => {
      const before = sent
      sent = deaf.reduce((bytes, { bytesWritten }) => bytes + bytesWritten, 0)
      expect(sent).toBe(before)
    },
    { timeoutMs: 20_000, everyMs: 500 },
  )
  for (const socket of deaf) socket.destroy()
  // Sooner than the 30 s after which answers that nobody takes end a stream.
  await eventually(async () => expect(await status()).toBe(202), { timeoutMs: 10_000 })
}, 60_000)

test('where Redis gives up in the middle of a stream, the last line says behind which line', async () => {
  const { req, send, next } = open()
  send(GOOD)
  expect(await next()).toMatchObject({ line: 1, state: 'queued' })
  await api.redis.call('CLIENT', 'PAUSE', '5000', 'ALL')
  send(GOOD)
  expect(await next()).toMatchObject({ afterLine: 1, problem: { status: 503 } })
  expect(await next()).toBeUndefined()
  req.destroy()
})
