/** What is wrong with one variable of the environment. */
export interface EnvProblem {
  variable: string
  /** As it was given; absent when the variable is not set. Secrets are hidden by `ConfigError`. */
  value?: string
  /** What would be right, written to follow the name: "must be a whole number". */
  problem: string
}

/** The environment is wrong. Its message names every bad variable; a service that meets it exits 78. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly code = 'CONFIG'
  readonly problems: readonly EnvProblem[]

  constructor(problems: readonly EnvProblem[]) {
    super(problems.map(sentence).join('\n'))
    this.problems = problems
  }
}

function sentence({ variable, value, problem }: EnvProblem): string {
  return value === undefined
    ? `${variable} ${problem}`
    : `${variable} ${problem}, but is ${shownValue(variable, value)}`
}

function shownValue(variable: string, value: string): string {
  if (/(_TOKEN|_SECRET|_PASSWORD|_KEYS?)$|^JADWAL_SECRET_/.test(variable)) return '(hidden)'
  // An address whose scheme was forgotten.
  const shown = variable.endsWith('_URL')
    ? value.replace(/^(?!\w+:\/\/)([^:@]*):.*@/, '$1:***@')
    : value
  return JSON.stringify(hidePassword(shown))
}

/** A URL fit to be shown: the password in it, if any, is `***`. Other text comes back as it is. */
export function hidePassword(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^:@/]*):.*@/i, '$1:***@')
    .replaceAll(/([?&]password=)[^&#]*/gi, '$1***')
}
