import { Role } from '@jadwal/domain'
import { ConfigError, type EnvProblem } from '@jadwal/runtime'
import { z } from 'zod'
import { isLoopback } from './loopback.ts'

/** A provider at which people sign in by OpenID Connect. */
export interface ProviderConfig {
  issuer: string
  clientId: string
  /** Undefined: a public client. */
  clientSecret: string | undefined
  /** Where the claims say which roles somebody has; with dots between names. */
  roleClaim: string
  /** What stands there → the role here. */
  roles: ReadonlyMap<string, Role>
  scopes: string
}

const ROLES_RULE = `must be such as "jadwal-admins=admin,ops=operator", with the roles ${Role.options.join(', ')}`

export const oidcEnv = {
  JADWAL_OIDC_ISSUER: z
    .url({ protocol: /^https?$/, error: 'must be the address of the provider' })
    .refine(
      (url) => url.startsWith('https:') || isLoopback(new URL(url).hostname),
      'must begin with https, unless the provider is on this machine',
    )
    .optional(),
  JADWAL_OIDC_CLIENT_ID: z.string().optional(),
  JADWAL_OIDC_CLIENT_SECRET: z.string().optional(),
  JADWAL_OIDC_ROLE_CLAIM: z
    .string()
    .regex(/^\S{1,200}$/, 'must be the name of a claim, such as roles or realm_access.roles')
    .optional(),
  JADWAL_OIDC_ROLES: z.string().transform(readRoles).optional(),
  JADWAL_OIDC_SCOPES: z
    .string()
    .refine(
      (scopes) => scopes.split(' ').includes('openid'),
      'must be names with spaces between them, openid among them, such as "openid profile email"',
    )
    .optional(),
} as const
const OidcEnv = z.object(oidcEnv)

/** Undefined when nothing is said of a provider. Throws `ConfigError` when only a part is. */
export function providerConfig(
  env: z.infer<typeof OidcEnv>,
  { publicUrl, isOpen }: { publicUrl: string | undefined; isOpen: boolean },
): ProviderConfig | undefined {
  const { JADWAL_OIDC_ISSUER: issuer, JADWAL_OIDC_CLIENT_ID: clientId } = env
  const given = Object.keys(oidcEnv).find((name) => Reflect.get(env, name) !== undefined)
  if (given === undefined) return undefined
  const problems: EnvProblem[] = []
  const mustBeSet = (variable: string, why: string): void => {
    problems.push({ variable, problem: `must be set, since ${given} is: ${why}` })
  }
  if (issuer === undefined) mustBeSet('JADWAL_OIDC_ISSUER', 'it is the address of the provider')
  if (clientId === undefined)
    mustBeSet('JADWAL_OIDC_CLIENT_ID', 'it is what the provider calls Jadwal')
  if (publicUrl === undefined)
    mustBeSet('JADWAL_PUBLIC_URL', 'it is where the provider sends people back to')
  if (isOpen)
    problems.push({
      variable: 'JADWAL_AUTH',
      value: 'off',
      problem: `must be on, since ${given} is set: nobody has to sign in otherwise`,
    })
  if (problems.length > 0 || issuer === undefined || clientId === undefined)
    throw new ConfigError(problems)
  return {
    issuer,
    clientId,
    clientSecret: env.JADWAL_OIDC_CLIENT_SECRET,
    roleClaim: env.JADWAL_OIDC_ROLE_CLAIM ?? 'roles',
    roles: env.JADWAL_OIDC_ROLES ?? new Map(Role.options.map((role) => [role, role])),
    scopes: env.JADWAL_OIDC_SCOPES ?? 'openid profile email',
  }
}

function readRoles(text: string, ctx: z.RefinementCtx): ReadonlyMap<string, Role> {
  const roles = new Map<string, Role>()
  for (const part of text.split(',')) {
    const at = part.lastIndexOf('=')
    const value = part.slice(0, Math.max(at, 0)).trim()
    const role = Role.safeParse(part.slice(at + 1).trim())
    if (value === '' || !role.success) {
      ctx.addIssue({ code: 'custom', message: ROLES_RULE })
      return z.NEVER
    }
    roles.set(value, role.data)
  }
  return roles
}
