import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, makeTempFolder, removeTempFolder } from '@jadwal/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { JOBS, setupSystem } from '../support/system.ts'

const BOTH = ['thread', 'process'] as const
/** Long enough that a busy machine renews it in time. */
const LOCK_MS = 5_000
const BURN_MS = 3 * LOCK_MS

function job(
  what: 'burn' | 'crash' | 'eat' | 'late' | 'loop' | 'stuck',
  isolate: (typeof BOTH)[number],
) {
  return { name: `isolated.${what}.${isolate}`, queue: 'isolated' }
}

function failed(code: string, message: RegExp) {
  const error = { name: 'ChildError', code, message: expect.stringMatching(message) as string }
  return { state: 'failed', error }
}

type System = Awaited<ReturnType<typeof setupSystem>>

async function errorsOf({ database }: System, runId: string): Promise<unknown[]> {
  const attempts = await database.db
    .selectFrom('attempts')
    .select(['attempt', 'state', 'error'])
    .where('run_id', '=', runId)
    .orderBy('attempt')
    .execute()
  return attempts.map(({ state, error }) => ({ state, error }))
}

/** The processes that made attempts of isolated jobs. */
async function pidsOf({ redis, prefix }: System): Promise<number[]> {
  return (await redis.lrange(`${prefix}:pids`, 0, -1)).map(Number)
}

function isGone(pid: number): boolean {
  try {
    // What its dead parent did not collect has ended as well.
    return /^\d+ \(.*\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

test('handlers that block for three lives of a lock keep it, and hold up nobody', async () => {
  const system = await setupSystem({ env: { JADWAL_LOCK_MS: String(LOCK_MS) } })
  const { producer, start, rows, executions, ended } = system
  await Promise.all([start('recorder').ready, start('worker').ready])
  const burning = await Promise.all(
    BOTH.map((isolate) => producer.enqueue(job('burn', isolate), { ms: BURN_MS })),
  )
  await eventually(async () => expect(await executions()).toHaveLength(2))
  const began = performance.now()
  const quick = await producer.enqueue(JOBS.quick, { n: 1 })
  await ended(1, BURN_MS)
  expect(await rows()).toContainEqual(expect.objectContaining({ id: quick, state: 'succeeded' }))
  expect(performance.now() - began).toBeLessThan(BURN_MS)
  await ended(3, 60_000)
  for (const id of burning) {
    expect(await rows()).toContainEqual({ id, state: 'succeeded', reason: null, attempt: 1 })
  }
  expect(await executions()).toHaveLength(2)
})

test('a child that crashes, eats too much memory or loops is one failed attempt with its reason', async () => {
  const system = await setupSystem()
  const { producer, start, rows, ended } = system
  // Six children at once may keep a slow machine busy for longer than the tests' lock lives.
  const worker = start('worker', { JADWAL_LOCK_MS: '30000' })
  await Promise.all([start('recorder').ready, worker.ready])
  const enqueue = (what: 'crash' | 'eat' | 'late'): Promise<string[]> =>
    Promise.all(BOTH.map((isolate) => producer.enqueue(job(what, isolate), {})))
  const crashing = await enqueue('crash')
  const eating = await enqueue('eat')
  const looping = await enqueue('late')
  await ended(6, 100_000)

  const [exited, killed] = await Promise.all(crashing.map((id) => errorsOf(system, id)))
  const succeeded = { state: 'succeeded', error: null }
  expect(exited).toMatchObject([failed('CHILD_EXITED', /exit code 7/), succeeded])
  expect(killed).toMatchObject([failed('CHILD_KILLED', /killed by SIGKILL/), succeeded])
  for (const id of eating) {
    const full = failed('CHILD_OUT_OF_MEMORY', /memoryMb = 64 MiB/)
    expect(await errorsOf(system, id)).toMatchObject([full, full])
  }
  for (const id of looping) {
    expect(await errorsOf(system, id)).toMatchObject([
      { state: 'failed', error: { name: 'TimeoutError' } },
    ])
  }
  const states = new Map((await rows()).map(({ id, state, reason }) => [id, [state, reason]]))
  expect(crashing.map((id) => states.get(id))).toEqual([
    ['succeeded', null],
    ['succeeded', null],
  ])
  for (const id of [...eating, ...looping]) expect(states.get(id)).toEqual(['dead', 'failed'])
  expect(worker.child.exitCode).toBeNull()
})

test('a worker that is killed leaves no child behind, whatever that computes', async () => {
  const system = await setupSystem()
  const { producer, start } = system
  const worker = start('worker')
  await worker.ready
  await producer.enqueue(job('burn', 'process'), { ms: 0 })
  await producer.enqueue(job('loop', 'process'), {})
  await producer.enqueue(job('loop', 'process'), {})
  await eventually(async () => expect(new Set(await pidsOf(system)).size).toBeGreaterThan(1))
  const pids = await pidsOf(system)
  expect(pids.some((pid) => !isGone(pid))).toBe(true)
  await worker.kill()
  await eventually(() => expect(pids.filter((pid) => !isGone(pid))).toEqual([]))
})

test('SIGTERM puts back what loops in a child, and leaves no child behind', async () => {
  const system = await setupSystem()
  const { producer, start, rows, database } = system
  const worker = start('worker', { JADWAL_GRACE_MS: '1000' })
  await Promise.all([start('recorder').ready, worker.ready])
  const ids = await Promise.all(BOTH.map((isolate) => producer.enqueue(job('loop', isolate), {})))
  await eventually(async () => expect(await pidsOf(system)).toHaveLength(2))
  expect(await worker.stop()).toBe(0)
  expect((await pidsOf(system)).filter((pid) => !isGone(pid))).toEqual([])
  await eventually(async () => {
    const states = (await rows()).map(({ id, state, reason }) => ({ id, state, reason }))
    for (const id of ids) expect(states).toContainEqual({ id, state: 'queued', reason: 'drained' })
  })
  const attempts = await database.db.selectFrom('attempts').select('state').execute()
  expect(attempts).toEqual([{ state: 'drained' }, { state: 'drained' }])
})

test.each(
  BOTH.flatMap((isolate) => [[isolate, 'SIGTERM'] as const, [isolate, 'SIGUSR2'] as const]),
)('a worker with an idle %s ends with 0 on %s', async (isolate, signal) => {
  const { producer, start, ended } = await setupSystem()
  const worker = start('worker')
  await Promise.all([start('recorder').ready, worker.ready])
  await producer.enqueue(job('burn', isolate), { ms: 0 })
  await ended(1, 30_000)
  worker.child.kill(signal)
  expect(await worker.exitCode()).toBe(0)
})

test.each([
  ['thread', -1],
  ['process', 0],
] as const)(
  'a %s that is stuck in a system call keeps no worker from ending',
  async (isolate, code) => {
    const system = await setupSystem()
    const folder = makeTempFolder('stuck')
    onTestFinished(() => removeTempFolder(folder))
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const worker = system.start('worker', { JADWAL_GRACE_MS: '500' })
    await worker.ready
    await system.producer.enqueue(job('stuck', isolate), { pipe })
    await eventually(async () => expect(await system.executions()).toHaveLength(1))
    // Node waits for the end of its threads when it exits: the worker has to kill itself.
    expect(await worker.stop()).toBe(code)
  },
)
