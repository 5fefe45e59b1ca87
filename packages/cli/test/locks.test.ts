import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { callJadwal } from './jadwal.ts'

vi.setConfig({ testTimeout: 60_000 })

test.each([true, false])('locks list says whether there are more (%j)', async (truncated) => {
  const items = [{ id: 'slot:pay:a', kind: 'slot', holder: 'a', stale: true }]
  const server = createServer((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ items, nextCursor: null, truncated }))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const env = { JADWAL_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  const told = await callJadwal(['locks', 'list'], { env })
  expect(told.output).toContain('slot:pay:a')
  expect(told.errors).toBe(truncated ? 'There are more: these 1 are what the api shows.\n' : '')
  expect((await callJadwal(['locks', 'list', '--json'], { env })).json).toMatchObject({ truncated })
})
