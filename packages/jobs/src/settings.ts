import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'

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

/** The variables that the built-in jobs read. A worker checks them with its own when it starts. */
export const jobsEnv = {
  JADWAL_EXEC_ALLOW: z
    .string()
    .refine(
      (text) => listOf(text).every((path) => isAbsolute(path)),
      'must be absolute paths with commas between them, such as /usr/bin/rsync,/bin/sh',
    )
    .optional(),
  JADWAL_DATA: z.string().optional(),
  JADWAL_URL: z
    .url({ protocol: /^https?$/, error: 'must be an address such as http://127.0.0.1:3000' })
    .optional(),
  JADWAL_TOKEN: z.string().optional(),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must be smtp://host:port or smtps://user:password@host' })
    .optional(),
} as const

/**
 * Reads the settings. An empty variable counts as unset, and so does a bad one: a worker that checks
 * `jobsEnv` does not start with it, and a job that needs it says so.
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const url = jobsEnv.JADWAL_URL.safeParse(env['JADWAL_URL']).data
  const smtpUrl = jobsEnv.SMTP_URL.safeParse(env['SMTP_URL']).data
  const token = env['JADWAL_TOKEN']
  return {
    execAllow: listOf(env['JADWAL_EXEC_ALLOW'] ?? '').filter((path) => isAbsolute(path)),
    commandEnv: commandEnv(env),
    dataDir: resolve(env['JADWAL_DATA'] || '.jadwal'),
    ...(url && token ? { api: { url, token } } : {}),
    ...(smtpUrl ? { smtpUrl } : {}),
  }
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function commandEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const { HOME, LANG, TZ } = env
  return {
    PATH: env['PATH'] || '/usr/local/bin:/usr/bin:/bin',
    ...(HOME ? { HOME } : {}),
    ...(LANG ? { LANG } : {}),
    ...(TZ ? { TZ } : {}),
  }
}
