import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
)
const ARGS =
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

/** The board looks at the queues again and again; a busy machine may tell it once to try later. */
const LOOKS_AGAIN = /status of 503 .*\/queues\/api\/queues(\?|\)$)/

/** Why nothing can be tested in a browser here; undefined where it can. */
export const NO_BROWSER =
  CHROMIUM === undefined ? 'no chromium is installed: apt-get install chromium' : undefined

export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({
    ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
    args: ARGS.split(' '),
  })
}

/** Somebody at a browser of their own, with everything that it asked for, got, and complained of. */
export interface Visitor extends AsyncDisposable {
  page: Page
  /** Addresses of all requests, blocked ones too, but not those within the page (`data:`, `blob:`). */
  asked: string[]
  /** What was sent to change something. */
  changes: { method: string; url: string; headers: Record<string, string> }[]
  /** Errors of scripts and on the console, where violations of the content security policy are, too. */
  faults: string[]
  /** The bodies of all answers so far, and the page as it is now. */
  seen: () => Promise<string>
}

export async function openVisitor(browser: Browser): Promise<Visitor> {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  const page = await context.newPage()
  const asked: string[] = []
  const changes: Visitor['changes'] = []
  const faults: string[] = []
  const bodies: Promise<string>[] = []
  page.on('request', (request) => {
    const [url, method] = [request.url(), request.method()]
    if (!/^(data|blob):/.test(url)) asked.push(url)
    if (method !== 'GET') changes.push({ method, url, headers: request.headers() })
  })
  page.on('response', (response) => {
    // A redirect has no body.
    bodies.push(response.text().catch(() => ''))
  })
  page.on('pageerror', (error) => void faults.push(error.message))
  page.on('console', (message) => {
    const fault = `${message.text()} (${message.location().url})`
    if (message.type() === 'error' && !LOOKS_AGAIN.test(fault)) faults.push(fault)
  })
  return {
    page,
    asked,
    changes,
    faults,
    seen: async () => [...(await Promise.all(bodies)), await page.content()].join('\n'),
    [Symbol.asyncDispose]: () => context.close(),
  }
}

/** Signs in by the form, from the address below which Jadwal is served. */
export async function signInByForm({ page }: Visitor, home: string, token: string): Promise<void> {
  await page.goto(`${home}login`)
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Queues' }).waitFor()
}
