import { isAtLeast, type Role } from '@jadwal/domain'
import { type Logger, rateLimitedErrors } from '@jadwal/runtime'
import * as oidc from 'openid-client'
import type { ProviderConfig } from './oidc-config.ts'

/** How long the provider has for an answer, in seconds. */
const ANSWER_WITHIN_S = 5
const LONGEST_NAME = 200

/** What a sign-in has to remember until the provider sends the person back. */
export interface SignIn {
  state: string
  nonce: string
  verifier: string
}

/** Who has signed in. */
export interface Person {
  name: string
  /** Undefined: the provider names no role that is one here. */
  role: Role | undefined
}

/** The provider does not answer, or not as one. */
export class ProviderAwayError extends Error {
  override name = 'ProviderAwayError'
  readonly code = 'PROVIDER_AWAY'
}

/** The provider did not let somebody in, or what came back belongs to no sign-in that was begun here. */
export class SignInRefusedError extends Error {
  override name = 'SignInRefusedError'
  readonly code = 'SIGN_IN_REFUSED'
}

/**
 * A provider of OpenID Connect, and the Authorization Code Flow with it. What there is to know of it is
 * asked for when it is needed first, so that the api starts and serves while the provider is away.
 */
export class Provider {
  readonly #config: ProviderConfig
  readonly #failed: (error: unknown) => void
  #discovered: Promise<oidc.Configuration> | undefined

  constructor(config: ProviderConfig, log: Logger) {
    this.#config = config
    this.#failed = rateLimitedErrors(log, 'signing in at the provider failed')
  }

  /** Tells apart who signed in where, as what. */
  get key(): string {
    return `${this.#config.issuer} ${this.#config.clientId}`
  }

  /** Where to send a person, who comes back to `callback`. Throws ProviderAwayError. */
  async begin(callback: string): Promise<{ url: string; signIn: SignIn }> {
    const configuration = await this.#discover()
    const signIn = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    }
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: callback,
      scope: this.#config.scopes,
      state: signIn.state,
      nonce: signIn.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(signIn.verifier),
      code_challenge_method: 'S256',
    })
    return { url: url.href, signIn }
  }

  /** Who came back to `url`, the whole of it. Throws ProviderAwayError and SignInRefusedError. */
  async finish(url: URL, { state, nonce, verifier }: SignIn): Promise<Person> {
    const configuration = await this.#discover()
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      return await this.#person(configuration, tokens)
    } catch (error) {
      throw this.#translated(error)
    }
  }

  async #person(
    configuration: oidc.Configuration,
    tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers,
  ): Promise<Person> {
    const claims = tokens.claims()
    if (!claims) throw new SignInRefusedError('The provider said nothing of who has signed in.')
    const { roleClaim } = this.#config
    const knowsMore = configuration.serverMetadata().userinfo_endpoint !== undefined
    const isVouchedFor = hasVerifiedAddress(claims)
    const isEnough = claimAt(claims, roleClaim) !== undefined && isVouchedFor
    const more: Readonly<Record<string, unknown>> =
      knowsMore && !isEnough
        ? await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : {}
    const all = { ...more, ...claims }
    // An address and the word for it come from one document: each may tell of another one.
    const { email, email_verified: isVerified } = isVouchedFor ? claims : more
    return {
      name: nameIn({ ...all, email, email_verified: isVerified }),
      role: this.#roleIn(claimAt(all, roleClaim)),
    }
  }

  #roleIn(claim: unknown): Role | undefined {
    const values: unknown[] = Array.isArray(claim) ? claim : [claim]
    let highest: Role | undefined
    for (const value of values) {
      const role = typeof value === 'string' ? this.#config.roles.get(value) : undefined
      if (role && (!highest || isAtLeast(role, highest))) highest = role
    }
    return highest
  }

  async #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.#config
    this.#discovered ??= oidc.discovery(
      new URL(issuer),
      clientId,
      undefined,
      clientSecret === undefined ? oidc.None() : withSecret(clientSecret),
      {
        timeout: ANSWER_WITHIN_S,
        execute: issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [],
      },
    )
    try {
      return await this.#discovered
    } catch (error) {
      this.#discovered = undefined
      this.#failed(error)
      throw new ProviderAwayError('The provider does not answer.', { cause: error })
    }
  }

  #translated(error: unknown): Error {
    if (error instanceof SignInRefusedError) return error
    this.#failed(error)
    if (error instanceof oidc.AuthorizationResponseError)
      return new SignInRefusedError(error.error_description ?? error.error, { cause: error })
    if (error instanceof oidc.ResponseBodyError && error.status < 500)
      return new SignInRefusedError(error.error_description ?? error.error, { cause: error })
    if (error instanceof oidc.ClientError && isOfTheAnswer(error))
      return new SignInRefusedError('What came back belongs to no sign-in that was begun here.', {
        cause: error,
      })
    return new ProviderAwayError('The provider does not answer as it should.', { cause: error })
  }
}

/** In the header, as is the rule, or in the body where the provider knows only that. */
function withSecret(secret: string): oidc.ClientAuth {
  return (...request) => {
    const [server] = request
    const ways = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const isInHeader = ways.includes('client_secret_basic')
    const authenticate = isInHeader ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret)
    authenticate(...request)
  }
}

/** Whether what came back is wrong, and not how the provider was reached. */
function isOfTheAnswer({ code }: oidc.ClientError): boolean {
  return code !== 'OAUTH_TIMEOUT' && code !== 'OAUTH_RESPONSE_IS_NOT_CONFORM'
}

/** The claim of a name with dots in it, or at a path. */
function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (claims[name] !== undefined) return claims[name]
  return name
    .split('.')
    .reduce<unknown>(
      (value, part) =>
        value !== null && typeof value === 'object' ? Reflect.get(value, part) : undefined,
      claims,
    )
}

type AddressClaims = { email: string; email_verified: true }

/** Whether the provider says of an address of mail that it is the person's. */
function hasVerifiedAddress<T extends Readonly<Record<string, unknown>>>(
  claims: T,
): claims is T & AddressClaims {
  const { email, email_verified: isVerified } = claims
  return typeof email === 'string' && email.includes('@') && isVerified === true
}

/**
 * What the history calls a person: the address of their mail, if the provider says that it is theirs. Other
 * names are marked, so that nobody is taken for a token of that name.
 */
function nameIn(claims: Readonly<Record<string, unknown>>): string {
  if (hasVerifiedAddress(claims)) return plain(claims.email)
  const { preferred_username: username, sub } = claims
  return `oidc:${plain(typeof username === 'string' && username !== '' ? username : String(sub))}`
}

function plain(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Surrogate}/gu, '').slice(0, LONGEST_NAME)
}
