import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { keys } from '@jadwal/queue'
import { eventually, spawnService } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { compile, installSdk, type Manifest, packSdk } from './install-sdk.ts'

const Said = z.object({
  id: z.uuid(),
  isInvalid: z.boolean(),
  tried: z.record(z.string(), z.unknown()),
})

let temp: string
let project: string
let manifest: Manifest
/** What tsc says of it where Node resolves the package. */
let complaints: string
beforeAll(async () => {
  temp = await mkdtemp(join(tmpdir(), 'jadwal-sdk-'))
  const archive = await packSdk(temp)
  project = join(temp, 'project')
  manifest = await installSdk(archive, project)
  complaints = await compile(project, { module: 'nodenext', outDir: 'dist' })
}, 600_000)
afterAll(async () => {
  await rm(temp, { recursive: true, force: true })
})

test('the archive holds code, types and words, and says what they need', async () => {
  expect(manifest).toMatchObject({
    type: 'module',
    engines: { node: expect.any(String) },
    dependencies: { bullmq: expect.any(String), ioredis: expect.any(String) },
    peerDependencies: { zod: expect.any(String) },
  })
  expect(manifest.private).toBeUndefined()
  expect(Object.keys(manifest.exports)).toEqual(['.', './testing', './package.json'])
  const home = join(project, 'node_modules', '@jadwal', 'sdk')
  const files = await readdir(home)
  expect(files).toEqual(
    expect.arrayContaining(['LICENSE', 'README.md', 'index.d.ts', 'index.js', 'testing.d.ts']),
  )
  for (const file of files.filter((name) => /\.(js|d\.ts)$/.test(name))) {
    const text = await readFile(join(home, file), 'utf8')
    expect(text).not.toMatch(/from ['"]@jadwal\//)
    expect(text).not.toMatch(/from ['"][^'"]+\.ts['"]/)
  }
})

test('its types are right where Node or a bundler resolves them, and wrong calls do not compile', async () => {
  expect(complaints).toBe('')
  const bundler = {
    module: 'esnext',
    moduleResolution: 'bundler',
    noEmit: true,
    skipLibCheck: true,
  }
  expect(await compile(project, bundler)).toBe('')
}, 300_000)

test('it enqueues runs, and a worker makes them with jobs that are defined with it', async () => {
  const redisUrl = inject('redisUrl')
  const prefix = `sdk-${randomUUID()}`
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null })
  onTestFinished(() => redis.disconnect())
  const worker = spawnService('worker', {
    REDIS_URL: redisUrl,
    JADWAL_PREFIX: prefix,
    JADWAL_JOBS: join(project, 'dist', 'jobs.js'),
  })
  onTestFinished(() => worker[Symbol.asyncDispose]())
  const app = join(project, 'dist', 'app.js')
  const { stdout } = await promisify(execFile)(process.execPath, [app, redisUrl, prefix])
  const said = Said.parse(JSON.parse(stdout))
  expect(said).toMatchObject({
    isInvalid: true,
    tried: {
      state: 'succeeded',
      result: { charged: 500 },
      logs: [{ message: 'charging', facts: { customer: 'c1' } }],
      enqueued: [{ job: 'receipt.send', payload: { to: 'c1' } }],
    },
  })
  const facts = async (): Promise<Record<string, unknown>[]> => {
    const entries = await redis.xrange(keys.outboxKey(prefix, 'consumers'), '-', '+')
    const lines = entries.flatMap(([, fields]) => (fields[1] ?? '').split('\n'))
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  await eventually(
    async () => {
      const succeeded = (await facts()).filter((fact) => fact['state'] === 'succeeded')
      expect(succeeded).toContainEqual(
        expect.objectContaining({ id: said.id, result: expect.objectContaining({ charged: 500 }) }),
      )
      expect(succeeded).toContainEqual(
        expect.objectContaining({ job: 'receipt.send', parent_id: said.id }),
      )
    },
    { timeoutMs: 60_000 },
  )
}, 300_000)
