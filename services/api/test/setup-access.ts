import { TOKEN, type TestApi } from './setup-api.ts'

/** What a browser has after it has signed in. */
export interface BrowserSession {
  /** As the header `Cookie`. */
  cookie: string
  csrfToken: string
}

/** Signs in with a token, as the form does. */
export async function signIn(api: TestApi, token = TOKEN): Promise<BrowserSession> {
  const body = new URLSearchParams({ token })
  const { status, headers } = await api.ask('/login', {
    method: 'POST',
    headers: { authorization: '' },
    body,
  })
  if (status !== 303) throw new Error(`signing in was answered with ${status}`)
  const cookies = headers.getSetCookie().map((each) => each.split(';')[0] ?? '')
  const csrfToken = cookies.find((each) => each.startsWith('XSRF-TOKEN='))?.slice(11) ?? ''
  return { cookie: cookies.join('; '), csrfToken }
}

/** Makes a token and gives it with its id. */
export async function makeToken(
  api: TestApi,
  request: { name: string; role: string; expiresInDays?: number },
): Promise<{ id: string; token: string }> {
  const { status, body, text } = await api.ask('/api/v1/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  if (status !== 201) throw new Error(`making a token was answered with ${status}: ${text}`)
  return body
}

/** The headers of who has a token. */
export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}
