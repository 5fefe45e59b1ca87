import { delimiter, isAbsolute, resolve } from 'node:path'

/** What the built-in jobs need to know of the worker's environment. */
export interface Settings {
  /** Absolute paths that `shell.exec` may run. Empty: none. */
  execAllow: readonly string[]
  /** What every command finds in its environment. Never more of the worker's own, which holds secrets. */
  commandEnv: Readonly<Record<string, string>>
  /** Where `report.generate` writes. */
  dataDir: string
  /** Where `report.generate` reads the history. */
  api?: { url: string; token: string }
  /** Where `email.send` sends. */
  smtpUrl?: string
}

/** A variable of the environment is wrong. Has the name that services answer with exit code 78. */
export class SettingsError extends Error {
  override name = 'ConfigError'
  readonly code = 'CONFIG'
}

/** Reads the settings and names every bad variable in one message. An empty variable counts as unset. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const problems: string[] = []
  const execAllow = list(env['JADWAL_EXEC_ALLOW'])
  for (const path of execAllow.filter((entry) => !isAbsolute(entry)))
    problems.push(
      `JADWAL_EXEC_ALLOW must be absolute paths with commas between them, but has ${JSON.stringify(path)}`,
    )
  const smtpUrl = env['SMTP_URL'] || undefined
  if (smtpUrl && !/^smtps?:$/.test(protocol(smtpUrl)))
    problems.push('SMTP_URL must be smtp://host:port or smtps://host:port')
  const url = env['JADWAL_URL'] || undefined
  if (url && !/^https?:$/.test(protocol(url)))
    problems.push(
      `JADWAL_URL must be an address such as http://127.0.0.1:3000, but is ${JSON.stringify(url)}`,
    )
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
  const token = env['JADWAL_TOKEN'] || undefined
  return {
    execAllow,
    commandEnv: commandEnv(env),
    dataDir: resolve(env['JADWAL_DATA'] || '.jadwal'),
    ...(url && token ? { api: { url, token } } : {}),
    ...(smtpUrl ? { smtpUrl } : {}),
  }
}

function list(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function protocol(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : ''
}

function commandEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const { HOME, LANG, TZ } = env
  return {
    PATH: env['PATH'] || ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    ...(HOME ? { HOME } : {}),
    ...(LANG ? { LANG } : {}),
    ...(TZ ? { TZ } : {}),
  }
}
