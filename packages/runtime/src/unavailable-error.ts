import { hidePassword } from './config-error.ts'

/** A server that a service needs at its start. */
export interface Unavailable {
  /** What it is: `Redis`, `Postgres`. */
  what: string
  /** The variable of the environment that points to it. */
  variable: string
  /** Where it was looked for. A password in it is hidden. */
  address: string
  cause: unknown
  /** What a person can do now; has a default. */
  waysOut?: string
}

/** Something that the service cannot start without does not answer. A service that meets it exits 69. */
export class UnavailableError extends Error {
  override name = 'UnavailableError'
  readonly code = 'UNAVAILABLE'

  constructor(facts: Unavailable) {
    const { what, variable, address, cause } = facts
    const waysOut =
      facts.waysOut ??
      `start it, or point ${variable} to one that runs; \`npm start\` and \`docker compose up\` bring their own`
    super(
      `${what} cannot be used at ${hidePassword(address)} (${variable}): ${reason(cause)}\nWays out: ${waysOut}.`,
      { cause },
    )
  }
}

/** One line for an error; Node's AggregateError of several addresses has no message of its own. */
function reason(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === '') {
    return cause.errors.map(reason).join('; ')
  }
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}
