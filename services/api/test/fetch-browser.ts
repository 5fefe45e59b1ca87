/** A browser as far as redirects, pages that go on by themselves, and cookies are concerned. */
export class FetchBrowser {
  /** By host, path and name. */
  readonly #jar = new Map<string, { host: string; path: string; pair: string }>()

  /** Opens an address and goes on until a page stays. */
  async open(address: string): Promise<{ url: URL; status: number; text: string }> {
    let url = new URL(address)
    for (let steps = 0; steps < 20; steps += 1) {
      const res = await fetch(url, {
        redirect: 'manual',
        headers: { accept: 'text/html', cookie: this.cookies(url) },
      })
      this.#keep(url, res.headers.getSetCookie())
      const text = await res.text()
      const next =
        res.headers.get('location') ??
        /http-equiv="refresh" content="0;url=([^"]*)"/.exec(text)?.[1]
      if (next === undefined) return { url, status: res.status, text }
      url = new URL(next.replaceAll('&amp;', '&'), url)
    }
    throw new Error(`${address} leads on and on`)
  }

  /** What it sends along. */
  cookies(url: URL): string {
    return [...this.#jar.values()]
      .filter(({ host, path }) => host === url.host && isBelow(url.pathname, path))
      .map(({ pair }) => pair)
      .join('; ')
  }

  #keep(url: URL, cookies: readonly string[]): void {
    for (const cookie of cookies) {
      const [pair = ''] = cookie.split(';')
      const path = /; path=([^;]*)/i.exec(cookie)?.[1] ?? '/'
      const key = `${url.host} ${path} ${pair.split('=')[0] ?? ''}`
      if (/expires=Thu, 01 Jan 1970/i.test(cookie)) this.#jar.delete(key)
      else this.#jar.set(key, { host: url.host, path, pair })
    }
  }
}

function isBelow(path: string, base: string): boolean {
  return path === base || path.startsWith(base.endsWith('/') ? base : `${base}/`)
}
