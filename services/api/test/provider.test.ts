import { ConfigError } from '@jadwal/runtime'
import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { FetchBrowser } from './fetch-browser.ts'
import { setupApi, type TestApi, TOKEN } from './setup-api.ts'
import { auditFacts, auditOf } from './setup-audit.ts'
import { startFront, startProvider } from './setup-provider.ts'

async function setup(
  env: Record<string, string> = {},
  { base = '', secret }: { base?: string; secret?: string } = {},
) {
  const front = await startFront()
  const publicUrl = front.url + base
  const provider = await startProvider({
    redirectUri: `${publicUrl}/login/oidc/callback`,
    ...(secret ? { secret } : {}),
  })
  const api = await setupApi({
    JADWAL_PUBLIC_URL: publicUrl,
    JADWAL_OIDC_ISSUER: provider.issuer,
    JADWAL_OIDC_CLIENT_ID: 'jadwal',
    ...(secret ? { JADWAL_OIDC_CLIENT_SECRET: secret } : {}),
    ...env,
  })
  front.leadTo(api.url)
  const browser = new FetchBrowser()
  return {
    api,
    provider,
    browser,
    publicUrl,
    me: async () => {
      const url = new URL(`${publicUrl}/api/v1/me`)
      const res = await fetch(url, { headers: { cookie: browser.cookies(url) } })
      return { status: res.status, body: (await res.json()) as Record<string, unknown> }
    },
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]()
      await provider[Symbol.asyncDispose]()
      await front[Symbol.asyncDispose]()
    },
  }
}

const ANA = { email: 'ana@example.com', email_verified: true, preferred_username: 'ana' }

test('a person signs in at the provider and comes back to where they wanted to go', async () => {
  await using system = await setup({}, { secret: 'a-client-secret' })
  const { provider, browser, publicUrl } = system
  provider.claims = { ...ANA, roles: ['operator', 'viewer', 'something'] }
  const closed = await browser.open(`${publicUrl}/queues?a=1`)
  const link = /href="(login\/oidc[^"]*)"/.exec(closed.text)?.[1] ?? ''
  const page = await browser.open(`${publicUrl}/${link}`)
  expect(page.url.href).toBe(`${publicUrl}/queues?a=1`)
  expect(page.status).toBe(200)
  expect(provider.asked?.get('code_challenge_method')).toBe('S256')
  for (const name of ['state', 'nonce', 'code_challenge'])
    expect(provider.asked?.get(name)).toMatch(/^.{32,}$/)
  expect(await system.me()).toMatchObject({
    status: 200,
    body: { name: 'ana@example.com', role: 'operator', by: 'session' },
  })
  expect(await auditOf(system.api, 'login')).toMatchObject({ actor: 'ana@example.com' })
})

test('a public client, below a path, with roles by other names deep in a claim', async () => {
  await using system = await setup(
    {
      JADWAL_OIDC_ROLE_CLAIM: 'realm_access.roles',
      JADWAL_OIDC_ROLES: 'jadwal-admin=admin,ops=operator',
    },
    { base: '/jobs' },
  )
  const { provider, browser, publicUrl } = system
  provider.claims = { preferred_username: 'admin', realm_access: { roles: ['ops', 'admin'] } }
  const page = await browser.open(`${publicUrl}/login/oidc?next=/metrics`)
  expect(page.url.href).toBe(`${publicUrl}/metrics`)
  // Not taken for who has JADWAL_ADMIN_TOKEN, nor the role that is only called so there.
  expect((await system.me()).body).toMatchObject({ name: 'oidc:admin', role: 'operator' })
})

const ONES_OWN = { email: 'ana@example.com', email_verified: true }
const OF_ANOTHER = 'boss@example.com'

test.each([
  ['the user info vouches for another one', { email: OF_ANOTHER, email_verified: false }, ONES_OWN],
  ['only the user info vouches for one', { email: OF_ANOTHER }, ONES_OWN],
  ['only the user info has one', {}, ONES_OWN],
  ['the ID token vouches for another one', ONES_OWN, { email: OF_ANOTHER, email_verified: false }],
  ['only the ID token vouches for one', ONES_OWN, { email: OF_ANOTHER }],
])('of two addresses it is the one vouched for: %s', async (_which, inIdToken, inUserInfo) => {
  await using system = await setup()
  const { provider, browser, publicUrl } = system
  provider.claims = { ...inUserInfo, preferred_username: 'ana', roles: ['viewer'] }
  provider.inIdToken = inIdToken
  await browser.open(`${publicUrl}/login/oidc`)
  expect((await system.me()).body).toMatchObject({ name: 'ana@example.com', role: 'viewer' })
})

test.each([
  [{ email: OF_ANOTHER }, { email_verified: true }],
  [{ email_verified: true }, { email: OF_ANOTHER }],
  [{ email: OF_ANOTHER, email_verified: false }, { email_verified: true }],
])('no word of one document vouches for an address of the other: %j, %j', async (one, other) => {
  await using system = await setup()
  const { provider, browser, publicUrl } = system
  provider.claims = { ...other, preferred_username: 'ana', roles: ['viewer'] }
  provider.inIdToken = one
  await browser.open(`${publicUrl}/login/oidc`)
  expect((await system.me()).body).toMatchObject({ name: 'oidc:ana', role: 'viewer' })
})

test('who has no role here is told so, and not let in', async () => {
  await using system = await setup()
  const { provider, browser, publicUrl } = system
  // Nobody says that the address is theirs.
  const { email_verified: _verified, ...claims } = ANA
  provider.claims = { ...claims, roles: ['accounting'] }
  const page = await browser.open(`${publicUrl}/login/oidc`)
  expect(page.status).toBe(403)
  expect(page.text).toContain('oidc:ana has signed in, but has no role here')
  expect((await system.me()).status).toBe(401)
  expect(await auditOf(system.api, 'login')).toMatchObject({ actor: 'oidc:ana', status: 403 })
  // Whoever tries on and on does not fill the log, and is counted all the same.
  for (let tries = 1; tries < 12; tries += 1) await browser.open(`${publicUrl}/login/oidc`)
  expect(await signIns(system.api)).toContain('{outcome="no-role"} 12')
  await eventually(async () => expect(await auditFacts(system.api)).toHaveLength(10))
})

async function signIns(api: TestApi): Promise<string> {
  const { text } = await api.ask('/metrics')
  return text.match(/^jadwal_sign_ins_total.*$/gm)?.join('\n') ?? ''
}

test('who is refused there is told why, and a way back that nobody began leads nowhere', async () => {
  await using system = await setup()
  const { provider, browser, publicUrl } = system
  provider.claims = { refused: true }
  const refused = await browser.open(`${publicUrl}/login/oidc`)
  expect(refused.status).toBe(403)
  expect(refused.text).toContain('You were not signed in. Not today.')
  expect(await auditOf(system.api, 'login')).toMatchObject({
    actor: 'oidc:unknown',
    came_by: 'nothing',
    status: 403,
    request: { refused: 'Not today.' },
  })
  const forged = await browser.open(`${publicUrl}/login/oidc/callback?code=x&state=y`)
  expect(forged.status).toBe(403)
  expect(forged.text).toContain('was begun more than ten minutes ago, or in another browser')
  const counted = await signIns(system.api)
  for (const outcome of ['refused', 'stale']) expect(counted).toContain(`{outcome="${outcome}"} 1`)
})

test('a code comes back to the browser that began, with its own state', async () => {
  await using system = await setup()
  const { browser, publicUrl, provider } = system
  provider.claims = { ...ANA, roles: 'viewer' }
  const begun = await fetch(`${publicUrl}/login/oidc`, { redirect: 'manual' })
  const cookie = begun.headers.getSetCookie()[0] ?? ''
  expect(cookie).toMatch(/^jadwal_sign_in=.*; Path=\/login\/oidc; .*HttpOnly; SameSite=Lax$/)
  const sent = cookie.split(';')[0] ?? ''
  const back = await fetch(`${publicUrl}/login/oidc/callback?code=x&state=another`, {
    headers: { cookie: sent },
  })
  expect(back.status).toBe(403)
  expect(await back.text()).toContain('belongs to no sign-in that was begun here')
  expect((await browser.open(`${publicUrl}/login/oidc?next=/metrics`)).status).toBe(200)
})

test('while the provider is away people are told so, and sign in with a token', async () => {
  await using system = await setup()
  await system.provider.stop()
  const page = await system.browser.open(`${system.publicUrl}/login/oidc`)
  expect(page.status).toBe(503)
  expect(page.text).toContain('does not answer right now')
  const body = new URLSearchParams({ token: TOKEN })
  expect((await system.api.ask('/login', { method: 'POST', body })).status).toBe(303)
})

const WHOLE = {
  JADWAL_ADMIN_TOKEN: TOKEN,
  JADWAL_PUBLIC_URL: 'https://jobs.example.com',
  JADWAL_OIDC_ISSUER: 'https://id.example.com',
  JADWAL_OIDC_CLIENT_ID: 'jadwal',
}

test.each([
  [{ JADWAL_OIDC_ISSUER: '' }, /JADWAL_OIDC_ISSUER must be set, since JADWAL_OIDC_CLIENT_ID is/],
  [{ JADWAL_OIDC_CLIENT_ID: '' }, /JADWAL_OIDC_CLIENT_ID must be set/],
  [{ JADWAL_PUBLIC_URL: '' }, /JADWAL_PUBLIC_URL must be set/],
  [
    { JADWAL_OIDC_ISSUER: '', JADWAL_OIDC_CLIENT_ID: '', JADWAL_OIDC_ROLES: 'ops=operator' },
    /JADWAL_OIDC_ISSUER must be set[^]*JADWAL_OIDC_CLIENT_ID must be set/,
  ],
  [{ JADWAL_OIDC_ISSUER: 'http://id.example.com' }, /must begin with https/],
  [{ JADWAL_OIDC_ROLES: 'ops=root' }, /JADWAL_OIDC_ROLES must be such as/],
  [{ JADWAL_OIDC_SCOPES: 'profile' }, /openid among them/],
  [{ JADWAL_AUTH: 'off', JADWAL_HOST: '127.0.0.1' }, /JADWAL_AUTH must be on/],
  [{ JADWAL_TRUSTED_PROXIES: '10.0.0.0/99' }, /JADWAL_TRUSTED_PROXIES must be "none"/],
])('%j is refused at the start', (env, message) => {
  const whole = { ...WHOLE, ...env }
  expect(() => readConfig(whole)).toThrow(ConfigError)
  expect(() => readConfig(whole)).toThrow(message)
  expect(readConfig(WHOLE).providerConfig?.clientId).toBe('jadwal')
})
