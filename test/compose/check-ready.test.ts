import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { projectPath } from './compose-file.ts'

const run = promisify(execFile)

/** A service on a free port that answers `/readyz` with `status`, and everything else with 404. */
async function serviceThatAnswers(status: number): Promise<number> {
  const server = createServer((req, res) => {
    res.writeHead(req.url === '/readyz' ? status : 404).end('{}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function exitCode(port: number): Promise<number> {
  const script = projectPath('infra/docker/check-ready.sh')
  const env = { PATH: '/usr/bin:/bin', JADWAL_PORT: String(port) }
  return run('bash', [script], { env }).then(
    () => 0,
    (error: { code: number }) => error.code,
  )
}

test('a service that is ready is healthy', async () => {
  expect(await exitCode(await serviceThatAnswers(200))).toBe(0)
})

test('a service that is not ready, or does not listen, is not', async () => {
  expect(await exitCode(await serviceThatAnswers(503))).toBe(1)
  expect(await exitCode(1)).toBe(1)
})
