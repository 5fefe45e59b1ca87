import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { vi } from 'vitest'
import { type Configuration, Provider } from 'oidc-provider'

/** A provider of OpenID Connect in this process, at which whoever asks is signed in as `claims` say. */
export interface TestProvider extends AsyncDisposable {
  issuer: string
  /** What it says of the person; `sub` is always there. Roles stand in the ID token, all else in the user info. */
  claims: Record<string, unknown>
  /** What stands in the ID token besides. */
  inIdToken: { email?: string; email_verified?: boolean }
  /** It shows people a page with a button before it lets them in. Default false. */
  hasPage: boolean
  /** What it was asked for last, at the address that people are sent to. */
  asked: URLSearchParams | undefined
  /** It answers nothing any more. */
  stop: () => Promise<void>
}

export interface ProviderOptions {
  redirectUri: string
  /** Undefined: a public client. */
  secret?: string
  host?: string
}

export async function startProvider(options: ProviderOptions): Promise<TestProvider> {
  hushProvider()
  const { host = '127.0.0.1', redirectUri, secret } = options
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`
  const started: TestProvider = {
    issuer,
    claims: {},
    inIdToken: {},
    hasPage: false,
    asked: undefined,
    stop: () => close(server),
    [Symbol.asyncDispose]: () => close(server),
  }
  const provider = new Provider(
    issuer,
    configuration(started, { redirectUri, ...(secret ? { secret } : {}) }),
  )
  const serve = provider.callback()
  server.on('request', (req, res) => {
    const url = new URL(req.url ?? '/', issuer)
    if (url.pathname === '/auth') started.asked = url.searchParams
    if (!url.pathname.startsWith('/interaction/')) return void serve(req, res)
    if (started.hasPage && req.method === 'GET')
      return void res.setHeader('Content-Type', 'text/html').end(PAGE)
    const result = started.claims['refused']
      ? { error: 'access_denied', error_description: 'Not today.' }
      : { login: { accountId: 'ana-1' } }
    void provider.interactionFinished(req, res, result)
  })
  return started
}

const PAGE =
  '<title>The provider</title><link rel="icon" href="data:,"><form method="post"><button>Continue as Ana</button></form>'

const ADDRESS = ['email', 'email_verified']

function configuration(of: TestProvider, { redirectUri, secret }: ProviderOptions): Configuration {
  const isPublic = secret === undefined
  return {
    clients: [
      {
        client_id: 'jadwal',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        ...(isPublic ? { token_endpoint_auth_method: 'none' as const } : { client_secret: secret }),
      },
    ],
    pkce: { required: () => true },
    cookies: { keys: ['a key for cookies'] },
    features: { devInteractions: { enabled: false } },
    scopes: ['openid', 'profile', 'email'],
    claims: {
      openid: ['sub', 'roles', 'realm_access', ...ADDRESS],
      email: ADDRESS,
      profile: ['preferred_username'],
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: (use) => {
        if (use !== 'id_token') return { sub: accountId, ...of.claims }
        const { email: _email, email_verified: _verified, ...claims } = of.claims
        return { sub: accountId, ...claims, ...of.inIdToken }
      },
    }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({
        clientId: 'jadwal',
        accountId: oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  }
}

/** An address that is known before what it leads to is there. */
export async function startFront(): Promise<
  { url: string; leadTo(url: string): void } & AsyncDisposable
> {
  let port = 0
  const server = createTcpServer((near) => {
    const far = connect(port, '127.0.0.1')
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
    near.pipe(far).pipe(near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (url) => {
      port = Number(new URL(url).port)
    },
    async [Symbol.asyncDispose]() {
      server.close()
    },
  }
}

/** It advises through the console what a provider in production should have. */
function hushProvider(): void {
  for (const method of ['info', 'warn'] as const) {
    const print = console[method]
    vi.spyOn(console, method).mockImplementation((...parts: unknown[]) => {
      if (!String(parts[0]).includes('oidc-provider')) print(...parts)
    })
  }
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}
