import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import {
  createTestDatabase,
  eventually,
  type ServiceName,
  type ServiceProcess,
  spawnService,
} from '@jadwal/testkit'
import { inject } from 'vitest'

/** The command as people run it: what was built. */
export const BINARY = fileURLToPath(new URL('../bin/jadwal.mjs', import.meta.url))

export const ADMIN_TOKEN = 'test-admin-token'

export interface Told {
  exitCode: number | null
  output: string
  /** What went to standard error. */
  errors: string
  /** Standard output, parsed. */
  json: unknown
  /** Standard output, each line of it parsed. */
  lines: unknown[]
}

export interface CallOptions {
  input?: string
  env?: Readonly<Record<string, string>>
}

/** Runs the built command in the zone Asia/Jakarta, in nothing but the given environment. */
export async function callJadwal(
  args: readonly string[],
  options: CallOptions = {},
): Promise<Told> {
  const { input = '', env = {} } = options
  const child = spawn(process.execPath, [BINARY, ...args], {
    env: { PATH: '/usr/bin:/bin', TZ: 'Asia/Jakarta', ...env },
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [output, errors, exitCode] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ])
  return {
    exitCode,
    output,
    errors,
    get json() {
      return JSON.parse(output) as unknown
    },
    get lines() {
      return output
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
    },
  }
}

export interface TestSystem extends AsyncDisposable {
  url: string
  env: Readonly<Record<string, string>>
  /** Runs the command as an admin of this system, unless `env` says otherwise. */
  jadwal: (args: readonly string[], options?: CallOptions) => Promise<Told>
  /** The same; throws unless it ends with 0, with all that it said. */
  good: (args: readonly string[], options?: CallOptions) => Promise<Told>
  start: (name: ServiceName) => Promise<ServiceProcess>
}

/** Real services with the built-in jobs on a database and a prefix of their own; `more` goes into their environment. */
export async function setupSystem(
  services: readonly ServiceName[],
  more: Readonly<Record<string, string>> = {},
): Promise<TestSystem> {
  const database = await createTestDatabase(inject('postgresUrl'))
  const env = {
    REDIS_URL: inject('redisUrl'),
    DATABASE_URL: database.url,
    JADWAL_PREFIX: `cli-${randomBytes(4).toString('hex')}`,
    JADWAL_ADMIN_TOKEN: ADMIN_TOKEN,
    JADWAL_EXEC_ALLOW: '/bin/echo,/bin/false,/bin/sleep',
    JADWAL_LEASE_MS: '1000',
    JADWAL_GRACE_MS: '500',
    ...more,
  }
  const started: ServiceProcess[] = []
  const start = async (name: ServiceName): Promise<ServiceProcess> => {
    const service = spawnService(name, env)
    started.push(service)
    await service.ready
    return service
  }
  const [api] = await Promise.all(['api' as const, ...services].map((name) => start(name)))
  const url = `http://127.0.0.1:${api?.port}`
  const jadwal = (args: readonly string[], { input, env: own }: CallOptions = {}): Promise<Told> =>
    callJadwal(args, {
      env: { JADWAL_URL: url, JADWAL_TOKEN: ADMIN_TOKEN, ...own },
      ...(input === undefined ? {} : { input }),
    })
  const good: TestSystem['good'] = async (args, options) => {
    const told = await jadwal(args, options)
    if (told.exitCode !== 0)
      throw new Error(
        `jadwal ${args.join(' ')} ended with ${told.exitCode}:\n${told.output}${told.errors}`,
      )
    return told
  }
  if (services.includes('worker'))
    await eventually(async () => {
      const { output } = await good(['jobs'])
      if (!output.includes('shell.exec')) throw new Error('the worker has not published its jobs')
    })
  return {
    url,
    env,
    jadwal,
    good,
    start,
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map((service) => service[Symbol.asyncDispose]()))
      await database[Symbol.asyncDispose]()
    },
  }
}
