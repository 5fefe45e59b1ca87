import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { launchBrowser, NO_BROWSER, openVisitor, signInByForm } from './browser.ts'
import { documented } from './documented.ts'
import { startPathProxy } from './path-proxy.ts'
import { makeToken } from './setup-access.ts'
import { setupApi } from './setup-api.ts'

/** In the page: the id and the head of each operation. All in one go, as there are many. */
const HEADS =
  "[...document.querySelectorAll('[id] > summary')].map((head) => [head.parentElement.id, head.textContent])"

describe.skipIf(NO_BROWSER !== undefined)('in a browser', { timeout: 180_000 }, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(async () => browser.close())

  test('below the path of a proxy it shows all, its links work, and nothing is complained of', async () => {
    await using proxy = await startPathProxy('/jobs', { takesOff: true, ownHost: true })
    const { publicUrl } = proxy
    await using api = await setupApi({ JADWAL_PUBLIC_URL: publicUrl })
    proxy.target = api.url
    const { operations } = await documented(api)
    const { token } = await makeToken(api, { name: 'reader', role: 'viewer' })
    const visitor = await openVisitor(browser)
    onTestFinished(() => visitor[Symbol.asyncDispose]())
    const { page } = visitor
    await signInByForm(visitor, publicUrl, token)
    await page.goto(`${publicUrl}api/v1/docs`)
    const shown = new Map(await page.evaluate<[string, string][]>(HEADS))
    for (const { id, head } of operations) expect(shown.get(id)).toContain(head)
    const first = page.locator(`#${operations[0]?.id ?? ''}`)
    await first.locator('summary').first().click()
    await first.getByText('curl').first().waitFor()
    expect(await first.getByText('$JADWAL_URL').first().textContent()).toContain('/jobs/api/v1/')

    for (const [name, url] of [
      ['openapi.json', `${publicUrl}api/v1/openapi.json`],
      ['Start', publicUrl],
    ] as const) {
      await page.goto(`${publicUrl}api/v1/docs`)
      await page.getByRole('link', { name, exact: true }).click()
      await page.waitForURL(url)
    }
    expect(visitor.faults).toEqual([])
    expect(visitor.asked.filter((asked) => !asked.startsWith(publicUrl))).toEqual([])
    expect(proxy.strays).toEqual([])
  })
})
