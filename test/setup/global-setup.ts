import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { migrate } from '@jadwal/db'
import {
  asAdmin,
  databaseUrl,
  PROJECT_ROOT,
  startTestPostgres,
  startTestRedis,
  TEMPLATE_DATABASE,
} from '@jadwal/testkit'
import { Redis } from 'ioredis'
import type { TestProject } from 'vitest/node'
import { bundlesOf } from '../support/bundle-jobs.ts'

/**
 * Once for the whole test run: bundles what changed, starts one Redis and one Postgres on free ports,
 * and migrates the database that tests clone.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await build()
  const [redis, postgres] = await Promise.all([
    startTestRedis({ appendonly: 'no' }),
    startTestPostgres({ max_connections: '400' }),
  ])
  await forbidWhatDisturbsOthers(redis.url)
  await asAdmin(postgres.url, `CREATE DATABASE ${TEMPLATE_DATABASE}`)
  const template = databaseUrl(postgres.url, TEMPLATE_DATABASE)
  await migrate({ url: template, schema: 'jadwal', now: new Date() })
  project.provide('redisUrl', redis.url)
  project.provide('postgresUrl', postgres.url)
  return async () => {
    await Promise.all([redis[Symbol.asyncDispose](), postgres[Symbol.asyncDispose]()])
    rmSync(bundlesOf(process.pid), { recursive: true, force: true })
  }
}

/** All tests share this Redis at once: one that stops, fills or empties a Redis starts its own, or fails here. */
async function forbidWhatDisturbsOthers(url: string): Promise<void> {
  const rules =
    '-client +client|id +client|getname +client|setname +client|list -config +config|get ' +
    '-flushall -flushdb -swapdb -debug -shutdown -replicaof -slaveof -failover'
  const redis = new Redis(url)
  try {
    await redis.call('ACL', 'SETUSER', 'default', ...rules.split(' '))
  } finally {
    redis.disconnect()
  }
}

/** What does not build fails the tests that run it, not those beside it. */
async function build(): Promise<void> {
  const turbo = join(PROJECT_ROOT, 'node_modules', '.bin', 'turbo')
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1' }
  // What is published takes longest to build, and one test needs it: it builds it itself.
  const args = ['run', 'build', '--filter=!@jadwal/sdk', '--continue', '--output-logs=errors-only']
  try {
    await promisify(execFile)(turbo, args, { cwd: PROJECT_ROOT, env, maxBuffer: 16 * 1024 * 1024 })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    process.stderr.write(`Some bundles cannot be built:\n${stdout}\n${stderr}\n`)
  }
}
