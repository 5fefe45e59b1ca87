import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JobContext } from '@jadwal/sdk'
import { makeTempFolder, removeTempFolder } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { openAgent } from '../src/http-exchange.ts'
import { reportGenerate } from '../src/report-generate.ts'
import { readSettings } from '../src/settings.ts'
import { attempt } from './attempt.ts'
import { type Listener, serve } from './http-server.ts'

const tickAt = new Date('2026-09-01T10:00:00Z')

function row(number: number) {
  return {
    id: `id-${number}`,
    job: 'demo.flaky',
    queue: 'demo',
    state: 'dead',
    reason: 'failed',
    payload: {},
    priority: 0,
    enqueuedAt: '2026-09-01T09:30:00.000Z',
    attempts: [{ attempt: 1 }, { attempt: 2 }],
    error: { name: 'Error', message: 'no, "never"' },
  }
}

/** An api that lists three runs, two on the first page. */
const history: Listener = (request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://api.test')
  const page =
    searchParams.get('cursor') === 'more'
      ? { items: [row(3)], nextCursor: null }
      : { items: [row(1), row(2)], nextCursor: 'more' }
  response.setHeader('content-type', 'application/json').end(JSON.stringify(page))
}

async function setup(listener: Listener = history) {
  const asked: string[] = []
  const folder = makeTempFolder('reports')
  const server = await serve((request, response) => {
    asked.push(`${request.headers.authorization} ${request.url}`)
    return listener(request, response)
  })
  const settings = readSettings({
    JADWAL_DATA: folder,
    JADWAL_URL: server.url,
    JADWAL_TOKEN: 'letmein',
  })
  const job = reportGenerate({ settings, dispatcher: openAgent() })
  return {
    asked,
    files: () => readdirSync(join(folder, 'reports')),
    generate: (payload: object, context: Partial<JobContext> = {}) =>
      attempt(job, payload, { tickAt, ...context }),
    enqueued: (payload: object, runId: string) => attempt(job, payload, { runId }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      removeTempFolder(folder)
    },
  }
}

test('the last hour before the tick is read page by page and written as CSV', async () => {
  await using report = await setup()
  const result = (await report.generate({ kind: 'hourly' })) as { file: string; rows: number }
  const query = 'from=2026-09-01T09%3A00%3A00.000Z&to=2026-09-01T10%3A00%3A00.000Z&limit=200'
  expect(report.asked).toEqual([
    `Bearer letmein /api/v1/runs?${query}`,
    `Bearer letmein /api/v1/runs?${query}&cursor=more`,
  ])
  expect(result.rows).toBe(3)
  const lines = readFileSync(result.file, 'utf8').trimEnd().split('\r\n')
  expect(lines).toHaveLength(4)
  expect(lines[0]).toMatch(/^id,job,queue,state,reason,/)
  expect(lines[3]).toBe(
    'id-3,demo.flaky,demo,dead,failed,,,2026-09-01T09:30:00.000Z,,,2,"Error: no, ""never"""',
  )
})

test('done again for the same tick it writes the same file', async () => {
  await using report = await setup()
  await report.generate({ kind: 'daily', timezone: 'Asia/Jakarta' })
  await report.generate({ kind: 'daily', timezone: 'Asia/Jakarta' }, { attempt: 2 })
  expect(report.files()).toEqual(['runs-daily-2026-08-30T1700Z.csv'])
})

test('a run without a tick counts from when it was enqueued', async () => {
  await using report = await setup()
  const runId = `${tickAt.getTime().toString(16).padStart(12, '0')}-7000-8000-000000000001`
  const result = await report.enqueued({ kind: 'hourly' }, runId)
  expect(result).toMatchObject({ from: '2026-09-01T09:00:00.000Z' })
})

test('an api that fails midway leaves no file, and is tried again', async () => {
  await using report = await setup((request, response) => {
    return request.url?.includes('cursor')
      ? response.writeHead(503).end()
      : history(request, response)
  })
  await expect(report.generate({ kind: 'hourly' })).rejects.toThrow('answered 503')
  expect(report.files()).toEqual([])
})

test('a token that the api refuses is permanent', async () => {
  await using report = await setup((_request, response) => response.writeHead(401).end())
  await expect(report.generate({ kind: 'hourly' })).rejects.toMatchObject({
    name: 'PermanentError',
    message: expect.stringContaining('JADWAL_TOKEN'),
  })
})

test('an unknown time zone breaks the schema', async () => {
  await using report = await setup()
  await expect(report.generate({ kind: 'daily', timezone: 'Moon/Base' })).rejects.toThrow(
    'is no IANA time zone',
  )
})
