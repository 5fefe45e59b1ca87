import { existsSync } from 'node:fs'
import { publishCatalogue } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi, TOKEN } from './setup-api.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
)
const ARGS =
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

test('a person signs in, sees the page and Bull Board, and nothing is asked of other hosts', async (context) => {
  if (CHROMIUM === undefined) context.skip('no chromium is installed: apt-get install chromium')
  await using api = await setupApi()
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
  await api.post({ job: 'email.send', payload: { to: 'ana@example.com', template: 'bye' } })
  const browser = await chromium.launch({
    ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
    args: ARGS.split(' '),
  })
  try {
    const page = await browser.newPage()
    const asked: string[] = []
    const reached: string[] = []
    const faults: string[] = []
    page.on('request', (request) => void asked.push(request.url()))
    page.on('requestfinished', (request) => void reached.push(request.url()))
    page.on('pageerror', (error) => void faults.push(error.message))

    await page.goto(api.url)
    await page.getByLabel('Token').fill(TOKEN)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Queues' }).waitFor()
    expect(await page.getByRole('link', { name: 'emails', exact: true }).count()).toBe(1)

    await eventually(async () => {
      const { body } = await api.ask('/queues/api/queues')
      expect(body.queues).toHaveLength(3)
    })
    await page.getByRole('link', { name: 'Bull Board' }).click()
    await page.getByText('emails.dead').first().waitFor()
    await page.goto(`${api.url}/queues/queue/emails`)
    await page.getByText('email.send').first().waitFor()

    const elsewhere = (urls: string[]) =>
      urls.filter((url) => !url.startsWith(api.url) && !url.startsWith('data:'))
    expect(elsewhere(reached)).toEqual([])
    expect(asked.length).toBeGreaterThan(5)
    expect(faults).toEqual([])
  } finally {
    await browser.close()
  }
}, 60_000)
