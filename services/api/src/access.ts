import type { Clock } from '@jadwal/domain'
import type { SignInOutcome } from './api-metrics.ts'
import type { AuditTrail } from './audit-trail.ts'
import type { Admission, ApiDeps } from './api-deps.ts'
import { type FailureLimits, limitFailures } from './limit-failures.ts'
import { Provider } from './provider.ts'
import { Sessions } from './session.ts'
import type { TokenBook } from './token-book.ts'
import type { TokenUses } from './token-uses.ts'

/** What lets people and programs in, or does not. */
export interface AccessDeps extends Admission {
  publicUrl: string | undefined
  /** Undefined where everybody on this machine is let in. */
  sessions: Sessions | undefined
  /** Where people sign in, if not here. */
  provider: Provider | undefined
  tokens: TokenBook
  uses: TokenUses
  failures: FailureLimits
  audit: AuditTrail
  clock: Clock
  /** Counts how an attempt to sign in ended. */
  countSignIn: (outcome: SignInOutcome) => void
}

export function createAccess(
  { publicUrl, tokens, tokenUses, audit, clock, log, metrics }: ApiDeps,
  admission: Admission,
): AccessDeps {
  const { adminToken, providerConfig } = admission
  const countSignIn = (outcome: SignInOutcome): void => metrics.signIns.inc({ outcome })
  return {
    ...admission,
    publicUrl,
    sessions: adminToken === undefined ? undefined : new Sessions(adminToken, clock),
    provider: providerConfig && new Provider(providerConfig, log),
    tokens,
    uses: tokenUses,
    failures: limitFailures(clock, countSignIn),
    audit,
    clock,
    countSignIn,
  }
}
