import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '@jadwal/testkit'
import express from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AuditTrail } from '../src/audit-trail.ts'
import { audited } from '../src/audit.ts'
import { noteCaller } from '../src/caller.ts'
import { limitTime } from '../src/limit-time.ts'

const app = express()
app.use((req, _res, next) => {
  Object.assign(req, { id: 'request-1' })
  next()
})
app.use(limitTime({ receiveMs: 200, answerMs: 600 }))
app.post('/read', express.text(), (_req, res) => void res.json({ read: true }))
app.get('/never', () => undefined)
app.get('/stream', (_req, res) => {
  res.write('one')
  setTimeout(() => res.end('two'), 1_000)
})
const statuses: number[] = []
const trail = {
  begin: async () => ({ end: (status: number) => void statuses.push(status) }),
} as unknown as AuditTrail
const late = audited(trail, { action: 'late' }, async (_req, res) => {
  await delay(900)
  res.json({})
})
app.post('/late', (req, res, next) => {
  noteCaller(res, { name: 'ana', role: 'admin', by: 'nothing' })
  return late(req, res, next)
})
const server = createServer({ requestTimeout: 0 }, app)
let url = ''

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

test('a request that is not complete in time is answered with 408, and its connection ends', async () => {
  const headers = { 'content-type': 'text/plain', 'content-length': '100' }
  const req = request(`${url}/read`, { method: 'POST', headers })
  req.on('error', () => undefined)
  req.write('a')
  const [res] = await once(req, 'response')
  expect(res.statusCode).toBe(408)
  expect(res.headers['content-type']).toContain('application/problem+json')
  expect(res.headers.connection).toBe('close')
  let text = ''
  for await (const piece of res) text += String(piece)
  expect(JSON.parse(text)).toMatchObject({
    type: 'urn:jadwal:problem:request-timeout',
    requestId: 'request-1',
  })
  req.destroy()
})

test('what is not answered in time is answered with 504', async () => {
  const res = await fetch(`${url}/never`)
  expect(res.status).toBe(504)
  expect(await res.json()).toMatchObject({ type: 'urn:jadwal:problem:answer-timeout' })
})

test('an answer that has begun goes on', async () => {
  expect(await (await fetch(`${url}/stream`)).text()).toBe('onetwo')
})

test('the audit log has the status that was answered, not that of an answer that came too late', async () => {
  expect((await fetch(`${url}/late`, { method: 'POST' })).status).toBe(504)
  await eventually(() => expect(statuses).toEqual([504]))
})
