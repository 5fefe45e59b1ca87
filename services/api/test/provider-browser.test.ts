import { publishCatalogue } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { clickOnQueue } from './board-page.ts'
import { launchBrowser, NO_BROWSER, openVisitor } from './browser.ts'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi } from './setup-api.ts'
import { auditOf } from './setup-audit.ts'
import { startFront, startProvider } from './setup-provider.ts'

const ANA = { email: 'ana@example.com', email_verified: true, roles: ['operator'] }
const WITHIN_MS = 10 * 60_000

describe.skipIf(NO_BROWSER !== undefined)('in a browser', { timeout: 180_000 }, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(async () => browser.close())

  /** To a browser `127.0.0.1` and `localhost` are different sites, as an organisation's provider is another one. */
  async function setup() {
    const front = await startFront()
    onTestFinished(() => front[Symbol.asyncDispose]())
    const provider = await startProvider({
      redirectUri: `${front.url}/login/oidc/callback`,
      host: 'localhost',
      secret: 'a-client-secret',
    })
    onTestFinished(() => provider[Symbol.asyncDispose]())
    provider.hasPage = true
    provider.claims = ANA
    const api = await setupApi({
      JADWAL_PUBLIC_URL: front.url,
      JADWAL_OIDC_ISSUER: provider.issuer,
      JADWAL_OIDC_CLIENT_ID: 'jadwal',
      JADWAL_OIDC_CLIENT_SECRET: 'a-client-secret',
    })
    onTestFinished(() => api[Symbol.asyncDispose]())
    front.leadTo(api.url)
    await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
    await eventually(async () => {
      expect((await api.ask('/queues/api/queues')).body.queues.length).toBeGreaterThan(0)
    })
    const visitor = await openVisitor(browser)
    onTestFinished(() => visitor[Symbol.asyncDispose]())
    const { page } = visitor
    const context = page.context()
    const cookies = async () => {
      const all = await context.cookies(`${front.url}/login/oidc`)
      return new Map(all.map((cookie) => [cookie.name, cookie]))
    }
    const button = (of = page) => of.getByRole('link', { name: 'Sign in with your organisation' })
    /** To the provider's page, which is left open. */
    const begin = async (of = page): Promise<void> => {
      await of.goto(`${front.url}/login`)
      await button(of).click()
      await of.getByRole('button', { name: 'Continue as Ana' }).waitFor()
    }
    const agree = (of = page) => of.getByRole('button', { name: 'Continue as Ana' }).click()
    return { api, home: front.url, provider, visitor, page, context, cookies, button, begin, agree }
  }

  test('a person goes to the provider and comes back to the board, acts there, and signs out', async () => {
    const t = await setup()
    const { page, home, provider, cookies } = t
    await page.goto(`${home}/queues`)
    await t.button().click()
    await page.getByRole('button', { name: 'Continue as Ana' }).waitFor()
    expect(page.url()).toMatch(new RegExp(`^${provider.issuer}/interaction/`))
    const begun = (await cookies()).get('jadwal_sign_in')
    expect(begun).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/login/oidc' })
    expect((begun?.expires ?? 0) * 1_000 - Date.now()).toBeLessThanOrEqual(WITHIN_MS)

    await t.agree()
    await page.waitForURL(`${home}/queues`)
    await page.getByText('emails.dead').first().waitFor()
    expect(new Set((await cookies()).keys())).toEqual(new Set(['jadwal_session', 'XSRF-TOKEN']))
    expect((await cookies()).get('jadwal_session')).toMatchObject({
      httpOnly: true,
      sameSite: 'Strict',
      secure: false,
      path: '/',
    })
    expect((await cookies()).get('XSRF-TOKEN')).toMatchObject({
      httpOnly: false,
      sameSite: 'Strict',
    })
    const me = await page.evaluate('fetch("/api/v1/me").then((res) => res.json())')
    expect(me).toMatchObject({ name: 'ana@example.com', role: 'operator', by: 'session' })

    await page.goto(`${home}/queues/queue/emails`)
    await clickOnQueue(page, 'Pause')
    expect(await auditOf(t.api, 'queues.pause')).toMatchObject({
      actor: 'ana@example.com',
      came_by: 'session',
      status: 200,
    })

    await page.goto(`${home}/`)
    await page.getByRole('heading', { name: 'Queues' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await t.button().waitFor()
    expect(await cookies()).toEqual(new Map())
    expect((await page.goto(`${home}/queues`))?.status()).toBe(401)
    const expected = [/the server responded with a status of 401/]
    const faults = t.visitor.faults.filter((fault) => !expected.some((each) => each.test(fault)))
    expect(faults).toEqual([])
  })

  test('who has no role here sees a page that says so, and is not signed in', async () => {
    const t = await setup()
    t.provider.claims = { ...ANA, roles: ['accounting'] }
    await t.begin()
    await t.agree()
    await t.page.getByText('ana@example.com has signed in, but has no role here').waitFor()
    expect(await t.cookies()).toEqual(new Map())
    expect((await t.page.goto(`${t.home}/`))?.status()).toBe(401)
    await t.button().waitFor()
  })

  test('who comes back a second time, or to an attempt before the last, is told and may begin again', async () => {
    const t = await setup()
    const { page, home, context } = t
    const callbacks: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/login/oidc/callback')) callbacks.push(request.url())
    })
    // The first attempt waits in one tab, while the last one is begun in another.
    const other = await context.newPage()
    await t.begin()
    await t.begin(other)
    await t.agree()
    const alert = page.getByRole('alert')
    await alert.getByText('belongs to no sign-in that was begun here').waitFor()
    expect(page.url()).toContain('/login/oidc/callback')
    await t.agree(other)
    await other.getByRole('heading', { name: 'Queues' }).waitFor()

    // Back to an answer that was used: of the history of the browser, or of a bookmark.
    await page.getByRole('link', { name: 'Go to the start' }).click()
    await page.getByRole('heading', { name: 'Queues' }).waitFor()
    await page.goBack()
    await alert.getByText('This sign-in is over already').waitFor()
    expect(callbacks.length).toBeGreaterThan(1)
    expect(new Set(callbacks).size).toBe(1)
    await t.button().click()
    await page.getByRole('heading', { name: 'Queues' }).waitFor()
    expect(page.url()).toBe(`${home}/`)
  })
})
