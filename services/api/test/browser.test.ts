import { randomUUID } from 'node:crypto'
import { keys, publishCatalogue } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { Queue } from 'bullmq'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buttonsOf, clickOnQueue, clickOnRun, queueMenu } from './board-page.ts'
import { launchBrowser, NO_BROWSER, openVisitor, signInByForm, type Visitor } from './browser.ts'
import { EMAIL_JOB } from './job-catalogue.ts'
import { startPathProxy } from './path-proxy.ts'
import { makeToken } from './setup-access.ts'
import { auditOf } from './setup-audit.ts'
import { setupApi, type TestApi } from './setup-api.ts'

const QUEUE = 'emails'
const CANARY = 'canary-8817-0451'
const HOUR_MS = 3_600_000

let browser: Browser
beforeAll(async () => {
  if (NO_BROWSER === undefined) browser = await launchBrowser()
})
afterAll(async () => {
  if (NO_BROWSER === undefined) await browser.close()
})

/** Runs of each kind that the board shows, and a visitor of that role who is signed in. */
async function setup(role: 'viewer' | 'operator', home?: (api: TestApi) => string, env = {}) {
  const api = await setupApi(env)
  const { redis, prefix } = api
  await publishCatalogue(redis, prefix, [{ ...EMAIL_JOB, redact: ['password'] }])
  const enqueue = async (delayMs?: number): Promise<string> => {
    const payload = { to: 'ana@example.com', template: 'bye', password: CANARY }
    return (await api.post({ job: EMAIL_JOB.name, payload, delayMs })).body.id
  }
  const [waiting, delayed, retrying] = [
    await enqueue(),
    await enqueue(HOUR_MS),
    await enqueue(2 * HOUR_MS),
  ]
  // As a worker leaves a run whose attempt failed.
  await redis.hset(keys.bullKey(prefix, QUEUE, retrying), {
    atm: 1,
    ats: 1,
    failedReason: `cannot sign in as ${CANARY}`,
    stacktrace: JSON.stringify([`Error: ${CANARY}\n    at ${CANARY}.js:1`]),
    progress: JSON.stringify({ tried: CANARY }),
    returnvalue: JSON.stringify({ with: CANARY }),
  })
  const unknown = await addUnknown(api)
  await eventually(async () => {
    const { body } = await api.ask('/queues/api/queues')
    expect(body.queues).toHaveLength(3)
  })
  const { token } = await makeToken(api, { name: `the-${role}`, role })
  const visitor = await openVisitor(browser)
  onTestFinished(async () => {
    await visitor[Symbol.asyncDispose]()
    await api[Symbol.asyncDispose]()
  })
  const start = home?.(api) ?? `${api.url}/`
  await signInByForm(visitor, start, token)
  const open = (path: string) => visitor.page.goto(start + path)
  return { api, visitor, page: visitor.page, start, open, waiting, delayed, retrying, unknown }
}

/** A message of a job that no worker has published. */
async function addUnknown({ redis, prefix }: TestApi): Promise<string> {
  const bull = new Queue(QUEUE, { connection: redis, prefix: keys.bullPrefix(prefix, QUEUE) })
  const jobId = randomUUID()
  await bull.add('nobody.knows', { v: 1, payload: { note: CANARY } }, { jobId, delay: HOUR_MS })
  await bull.close()
  await redis.hset(keys.bullKey(prefix, QUEUE, jobId), { failedReason: CANARY })
  await redis.rpush(keys.bullKey(prefix, QUEUE, `${jobId}:logs`), CANARY)
  return jobId
}

/** Nothing went wrong, nobody else was asked for anything, and nothing secret was seen. */
async function expectClean(visitor: Visitor, home: string): Promise<void> {
  expect(visitor.asked.length).toBeGreaterThan(5)
  expect(visitor.asked.filter((url) => !url.startsWith(home))).toEqual([])
  const seen = await visitor.seen()
  expect(seen).toContain('[redacted]')
  expect(seen).toContain('[hidden]')
  expect(seen).not.toContain(CANARY)
  expect(visitor.faults).toEqual([])
}

type Scene = Awaited<ReturnType<typeof setup>>

async function openBoard({ page, open }: Scene): Promise<void> {
  await open('')
  await page.getByRole('link', { name: 'Bull Board' }).click()
  await page.getByText('emails.dead').first().waitFor()
}

async function lookAtParts({ page }: Scene): Promise<void> {
  for (const tab of ['Data', 'Progress', 'Options', 'Logs', 'Error'])
    await page.getByRole('tab', { name: tab, exact: true }).click()
}

/** Looks at every page of the board, and at every part of a run. */
async function lookAround(scene: Scene): Promise<void> {
  const { page, open, retrying, unknown } = scene
  await openBoard(scene)
  for (const [status, id] of [
    ['latest', retrying],
    ['delayed', unknown],
  ] as const) {
    await open(`queues/queue/${QUEUE}?status=${status}`)
    await page.getByRole('link', { name: id }).click()
    await lookAtParts(scene)
  }
  for (const queue of ['ticks', 'emails.dead']) {
    await page.getByRole('link', { name: queue }).first().click()
    await page.getByRole('heading', { name: queue }).waitFor()
    expect(await queueMenu(page).count()).toBe(0)
  }
}

describe.skipIf(NO_BROWSER !== undefined)('in a browser', { timeout: 180_000 }, () => {
  test('a viewer sees the board, and no button that changes anything', async () => {
    const scene = await setup('viewer')
    const { page, open, visitor, start, retrying, delayed } = scene
    await lookAround(scene)
    await open(`queues/queue/${QUEUE}?status=delayed`)
    for (const id of [retrying, delayed]) {
      await page.getByRole('link', { name: id }).waitFor()
      expect(await buttonsOf(page, id).count()).toBe(0)
    }
    expect(await queueMenu(page).count()).toBe(0)
    await expectClean(visitor, start)
    expect(visitor.changes.map(({ url }) => url)).toEqual([`${start}login`])
  })

  test('an operator acts by clicks, each with its entry in the audit log', async () => {
    const scene = await setup('operator')
    const { api, page, open, visitor, start, waiting, delayed, retrying, unknown } = scene
    await lookAround(scene)
    const stateOf = async (id: string) => (await api.ask(`/api/v1/runs/${id}`)).body.state
    const expectAudit = async (action: string, subject: string) =>
      expect(await auditOf(api, action)).toMatchObject({
        actor: 'the-operator',
        came_by: 'session',
        subject,
        status: 200,
      })

    await open(`queues/queue/${QUEUE}?status=delayed`)
    await clickOnRun(page, delayed, 'Promote')
    await expectAudit('runs.promote', `runs/${delayed}`)
    expect(Date.parse((await api.ask(`/api/v1/runs/${delayed}`)).body.runAt)).toBeLessThan(
      Date.now(),
    )

    await open(`queues/queue/${QUEUE}?status=latest`)
    await clickOnRun(page, retrying, 'Retry')
    await expectAudit('runs.retry', `runs/${retrying}`)
    const due = await api.redis.zscore(keys.bullKey(api.prefix, QUEUE, 'delayed'), retrying)
    expect(Number(due) / 4_096).toBeLessThan(Date.now() + HOUR_MS)

    await open(`queues/queue/${QUEUE}?status=waiting`)
    await clickOnRun(page, waiting, 'Clean')
    await expectAudit('runs.cancel', `runs/${waiting}`)
    expect(await stateOf(waiting)).toBe('cancelled')

    await open(`queues/queue/${QUEUE}`)
    for (const [name, action, isPaused] of [
      ['Pause', 'queues.pause', true],
      ['Resume', 'queues.resume', false],
    ] as const) {
      await clickOnQueue(page, name)
      await expectAudit(action, `queues/${QUEUE}`)
      const { pause } = (await api.ask(`/api/v1/queues/${QUEUE}`)).body
      expect(pause !== undefined && pause !== null).toBe(isPaused)
    }
    const acts = visitor.changes.filter(({ url }) => url.includes('/queues/api/'))
    expect(acts.map(({ method, headers }) => [method, typeof headers['x-xsrf-token']])).toEqual(
      Array.from({ length: 5 }, () => ['PUT', 'string']),
    )
    await expectClean(visitor, start)

    // What Jadwal does not carry out is refused, and the page says so.
    await open(`queues/queue/${QUEUE}`)
    await clickOnQueue(page, 'Empty')
    await page.getByText('it would go round the history').first().waitFor()
    expect((await api.ask(`/queues/api/queues/${QUEUE}/${unknown}`)).status).toBe(200)
  })

  test.each([
    { how: 'takes its path off and changes the host', takesOff: true, ownHost: true },
    { how: 'passes its path on', takesOff: false, ownHost: false },
  ])('behind a proxy that $how everything works below that path', async (how) => {
    await using proxy = await startPathProxy('/jobs', how)
    const { publicUrl } = proxy
    const home = (api: TestApi): string => {
      proxy.target = api.url
      return publicUrl
    }
    const scene = await setup('operator', home, { JADWAL_PUBLIC_URL: publicUrl })
    const { api, page, open, visitor, delayed, retrying } = scene
    expect(page.url()).toBe(publicUrl)
    await openBoard(scene)
    await open(`queues/queue/${QUEUE}/${retrying}`)
    await lookAtParts(scene)
    await open(`queues/queue/${QUEUE}?status=delayed`)
    await clickOnRun(page, delayed, 'Promote')
    expect(await auditOf(api, 'runs.promote')).toMatchObject({ actor: 'the-operator', status: 200 })

    await open('')
    const base = String(await page.evaluate('document.baseURI'))
    const links = await page.getByRole('link').all()
    const places = await Promise.all(links.map((link) => link.getAttribute('href')))
    expect(places.length).toBeGreaterThan(8)
    for (const place of new Set(places.map((href) => new URL(href ?? '', base).href))) {
      const answer = await page.context().request.get(place)
      expect([place, answer.status()]).toEqual([place, 200])
    }
    await open('api/v1/docs')
    await page.getByRole('link', { name: 'openapi.json' }).click()
    await page.waitForURL(`${publicUrl}api/v1/openapi.json`)
    await open('api/v1/docs')
    await page.getByRole('link', { name: 'Start' }).click()
    await page.waitForURL(publicUrl)
    await expectClean(visitor, publicUrl)

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').waitFor()
    expect(page.url()).toBe(publicUrl)
    expect(await page.context().cookies()).toEqual([])
    expect((await open('queues'))?.status()).toBe(401)
    expect(proxy.strays).toEqual([])
  })
})
