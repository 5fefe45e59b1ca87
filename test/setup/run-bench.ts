import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { migrate } from '@jadwal/db'
import {
  asAdmin,
  databaseUrl,
  PROJECT_ROOT,
  startTestPostgres,
  startTestRedis,
} from '@jadwal/testkit'
import { bundlesOf } from '../support/bundle-jobs.ts'

/**
 * Runs `test/bench/*.bench.ts` one after the other, those whose name contains one of the arguments,
 * or all. Each is a program of its own, with REDIS_URL and DATABASE_URL of servers that are set up as
 * in production and start empty for each.
 */
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }

async function runBench(file: string): Promise<number> {
  await using redis = await startTestRedis()
  await using postgres = await startTestPostgres(DURABLE)
  await asAdmin(postgres.url, 'CREATE DATABASE jadwal')
  const url = databaseUrl(postgres.url, 'jadwal')
  await migrate({ url, schema: 'jadwal', now: new Date() })
  const child = spawn(join(PROJECT_ROOT, 'node_modules', '.bin', 'tsx'), [file], {
    cwd: PROJECT_ROOT,
    env: { ...process.env, REDIS_URL: redis.url, DATABASE_URL: url },
    stdio: 'inherit',
  })
  const [code] = (await once(child, 'close')) as [number | null]
  rmSync(bundlesOf(child.pid ?? 0), { recursive: true, force: true })
  return code ?? 1
}

const wanted = process.argv.slice(2)
const files = readdirSync(join(PROJECT_ROOT, 'test', 'bench'))
  .filter((name) => name.endsWith('.bench.ts'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
for (const name of files.toSorted()) {
  process.stdout.write(`\n${name}\n`)
  const code = await runBench(join(PROJECT_ROOT, 'test', 'bench', name))
  if (code !== 0) process.exitCode = code
}
