import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder, PROJECT_ROOT, removeTempFolder } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type EmbeddedPostgres,
  type EmbeddedRedis,
  findRedisBinary,
  isAlive,
  startPostgres,
  startRedis,
} from '../src/index.ts'
import { reachableFolder } from '../src/unprivileged-user.ts'

vi.setConfig({ testTimeout: 90_000 })
const asRoot = process.getuid?.() === 0

let folder = ''
beforeEach(() => {
  folder = makeTempFolder('servers')
})
afterEach(() => removeTempFolder(folder))

describe('the embedded Postgres', () => {
  test('keeps its data over a restart and needs its password', async () => {
    const first = await launchPostgres()
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS n')
    await expect(query(first.url.replace('geheim', 'wrong'), 'SELECT 1')).rejects.toThrow(
      'password',
    )
    await first.stop()
    expect(await isAlive(first.server.identity)).toBe(false)
    const second = await launchPostgres()
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }])
    await second.stop()
  })

  test('that a killed process left running is stopped, and its data used', async () => {
    const left = await launchPostgres()
    await query(left.url, 'CREATE TABLE kept AS SELECT 8 AS n')
    const next = await launchPostgres()
    expect(await isAlive(left.server.identity)).toBe(false)
    expect(await query(next.url, 'SELECT n FROM kept')).toEqual([{ n: 8 }])
    await next.stop()
  })

  test('recovers after it was killed', async () => {
    const first = await launchPostgres()
    await query(first.url, 'CREATE TABLE kept AS SELECT 9 AS n')
    first.server.child.kill('SIGKILL')
    await first.server.exited
    const second = await launchPostgres()
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 9 }])
    await second.stop()
  })

  test('takes a new password where the old one was lost', async () => {
    const first = await launchPostgres()
    await query(first.url, 'CREATE TABLE kept AS SELECT 5 AS n')
    await first.stop()
    const second = await launchPostgres("it's new")
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 5 }])
    await second.stop()
  })

  test('does not outlive a start that fails', async () => {
    const settings = { default_transaction_read_only: 'on' }
    await expect(launchPostgres('geheim', settings)).rejects.toThrow('CREATE DATABASE')
    expect(existsSync(join(folder, 'postgres', 'postmaster.pid'))).toBe(false)
  })

  test.runIf(asRoot)('does not run as root', async () => {
    const postgres = await launchPostgres()
    expect(statSync(`/proc/${postgres.server.identity.pid}`).uid).toBe(65_534)
    await postgres.stop()
  })

  test.runIf(asRoot)('lies elsewhere when its user cannot reach the folder', async () => {
    chmodSync(folder, 0o700)
    const postgres = await launchPostgres()
    const place = reachableFolder(join(folder, 'postgres'))
    expect(lstatSync(join(folder, 'postgres')).isSymbolicLink()).toBe(true)
    expect(existsSync(join(place, 'PG_VERSION'))).toBe(true)
    await query(postgres.url, 'CREATE TABLE kept AS SELECT 1 AS n')
    await postgres.stop()
    const again = await launchPostgres()
    expect(await query(again.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }])
    await again.stop()
    rmSync(place, { recursive: true })
  })

  test.runIf(asRoot)('begins anew where the data folder was removed', async () => {
    chmodSync(folder, 0o700)
    const first = await launchPostgres('of the first')
    await first.stop()
    rmSync(join(folder, 'postgres'))
    const second = await launchPostgres('of the second')
    expect(await query(second.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }])
    await second.stop()
    rmSync(reachableFolder(join(folder, 'postgres')), { recursive: true })
  })
})

describe('the embedded Redis', () => {
  test('keeps its data over a restart and needs its password', async () => {
    const first = await launchRedis()
    expect(await command(first.url, 'set', 'kept', '7')).toBe('OK')
    await expect(command(first.url.replace('geheim', 'wrong'), 'get', 'kept')).rejects.toThrow(
      /WRONGPASS|Connection is closed/,
    )
    await first.stop()
    expect(await isAlive(first.server.identity)).toBe(false)
    const second = await launchRedis()
    expect(await command(second.url, 'get', 'kept')).toBe('7')
    await second.stop()
  })

  test('that a killed process left running is stopped, and its data used', async () => {
    const left = await launchRedis()
    await command(left.url, 'set', 'kept', '8')
    const next = await launchRedis()
    expect(await isAlive(left.server.identity)).toBe(false)
    expect(await command(next.url, 'get', 'kept')).toBe('8')
    await next.stop()
  })

  test.runIf(process.platform === 'linux')(
    'that is left running is found although the note of its process is empty',
    async () => {
      const left = await launchRedis()
      writeFileSync(join(folder, 'redis', 'redis-process.json'), '')
      const next = await launchRedis()
      expect(await isAlive(left.server.identity)).toBe(false)
      await next.stop()
    },
  )

  test('says what to do about a damaged append-only file', async () => {
    const first = await launchRedis()
    for (const key of ['a', 'b', 'c']) await command(first.url, 'set', key, 'x'.repeat(100))
    await first.stop()
    const files = readdirSync(join(folder, 'redis'), { recursive: true, encoding: 'utf8' })
    const name = files.find((each) => /(incr|appendonly)\.aof$/.test(each)) ?? ''
    const file = join(folder, 'redis', name)
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, `${text.slice(0, text.indexOf('xxx'))}damage${text}`)
    await expect(launchRedis()).rejects.toThrow(
      /redis-check-aof --fix .*appendonly\.aof.* empty queue/,
    )
  })

  test('writes an append-only file and evicts nothing', async () => {
    const redis = await launchRedis()
    expect(await command(redis.url, 'config', 'get', 'appendonly')).toEqual(['appendonly', 'yes'])
    expect(await command(redis.url, 'config', 'get', 'maxmemory-policy')).toEqual([
      'maxmemory-policy',
      'noeviction',
    ])
    await redis.stop()
  })

  test('is named with the ways out when there is none and none can be unpacked', async () => {
    vi.stubEnv('PATH', '/nowhere')
    onTestFinished(() => void vi.unstubAllEnvs())
    const search = { path: '/nowhere', unpackInto: join(folder, 'software') }
    await expect(findRedisBinary(search)).rejects.toThrow(/REDIS_URL[^]*docker compose up/)
  })

  test.runIf(existsSync('/etc/debian_version'))(
    'is unpacked from the package of the distribution when the path has none',
    async () => {
      const unpackInto = join(PROJECT_ROOT, '.jadwal', 'software')
      const binary = await findRedisBinary({ path: '/nowhere', unpackInto })
      expect(binary.file.startsWith(unpackInto)).toBe(true)
      const redis = await launchRedis(binary)
      expect(await command(redis.url, 'ping')).toBe('PONG')
      await redis.stop()
    },
  )
})

function launchPostgres(
  password = 'geheim',
  settings: Readonly<Record<string, string>> = {},
): Promise<EmbeddedPostgres> {
  return startPostgres({
    folder: join(folder, 'postgres'),
    password,
    database: 'jadwal',
    logFile: join(folder, 'postgres.log'),
    settings,
  })
}

async function launchRedis(given?: {
  file: string
  libraries: readonly string[]
}): Promise<EmbeddedRedis> {
  const search = { path: process.env['PATH'] ?? '', unpackInto: join(folder, 'software') }
  return startRedis({
    binary: given ?? (await findRedisBinary(search)),
    folder: join(folder, 'redis'),
    password: 'geheim',
    logFile: join(folder, 'redis.log'),
  })
}

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    return (await client.query(statement)).rows as unknown[]
  } finally {
    await client.end()
  }
}

async function command(url: string, name: string, ...args: string[]): Promise<unknown> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return await redis.call(name, ...args)
  } finally {
    redis.disconnect()
  }
}
