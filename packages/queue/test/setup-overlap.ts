import { randomUUID } from 'node:crypto'
import { type OverlapPolicy, type RunId, type ScheduleId, tickRunId } from '@jadwal/domain'
import {
  FiringQueue,
  keys,
  redisReady,
  type RunEnd,
  scheduledRun,
  type TickPlan,
} from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, onTestFinished } from 'vitest'
import { openBench } from './run-bench.ts'

export const QUEUE = 'emails'
export const NOW = '2026-09-01T10:00:00.000Z'
export const TICK = Date.parse(NOW)
const SUCCEEDED: RunEnd = { kind: 'succeeded' }
const reign = { term: 7, trusted: () => true }

/** One schedule, a leader that fires its ticks with whatever policy, and a worker that a test ends runs of. */
export async function setupOverlap(url: string, payload: unknown = {}) {
  const bench = openBench(url)
  const running = new Map<string, (end: RunEnd) => void>()
  onTestFinished(async () => {
    for (const end of running.values()) end(SUCCEEDED)
    running.set = (_id, end) => (end(SUCCEEDED), running)
    await bench[Symbol.asyncDispose]()
  })
  const { prefix, redis } = bench
  const leader = new FiringQueue({
    url,
    prefix,
    queue: QUEUE,
    commandTimeoutMs: 5_000,
    onError: () => {},
  })
  onTestFinished(() => leader.close())
  await redisReady(leader.redis, 5_000)
  await leader.claim(reign)
  const scheduleId = randomUUID() as ScheduleId
  let ticks = 0

  const fire = async (overlap: OverlapPolicy, jitterMs = 0): Promise<RunId> => {
    ticks += 1
    return await fireLatest(overlap, jitterMs)
  }
  /** As a leader does whose last ticks Redis has lost. */
  const fireLatest = async (overlap: OverlapPolicy, jitterMs = 0): Promise<RunId> => {
    const tickAtMs = TICK + ticks * 1_000
    const id = tickRunId(scheduleId, tickAtMs)
    const schedule = { id: scheduleId, name: 's' }
    const { message, options, fact } = scheduledRun({
      id,
      queue: QUEUE,
      schedule,
      spec: { job: 'email.send' },
      payload,
      rules: {},
      enqueuedAtMs: tickAtMs,
    })
    const plan = (): TickPlan => ({
      scheduleId,
      lastMs: tickAtMs,
      skips: [],
      skipped: {},
      runs: [
        {
          id,
          job: 'email.send',
          tickAtMs,
          dueAtMs: tickAtMs + jitterMs,
          overlap,
          message,
          options,
          fact,
        },
      ],
    })
    await leader.fire({ reign, nowIso: NOW, scheduleIds: [scheduleId], plan })
    return id
  }
  return {
    prefix,
    redis,
    queue: bench.queue,
    ends: bench.ends,
    calls: bench.calls,
    cancels: bench.cancels,
    add: (data?: object, kept?: object) => bench.add(data, kept),
    facts: () => bench.facts(),
    fire,
    fireAgain: (overlap: OverlapPolicy) => fireLatest(overlap),
    cancelMarks: () => redis.hgetall(keys.cancelsKey(prefix, QUEUE)),
    running,
    /** A worker whose attempts go on until \`end\` is called. */
    work: (options: { lockMs?: number } = {}) =>
      bench.work((run) => new Promise((resolve) => void running.set(run.id, resolve)), options),
    end: (id: string, end: RunEnd = SUCCEEDED): void => {
      running.get(id)?.(end)
      running.delete(id)
    },
    isRunning: (id: string) => eventually(() => expect([...running.keys()]).toContain(id)),
    /** What the history would show of each run: the fact with the highest revision. */
    states: async (): Promise<Record<string, string>> => {
      const states = new Map<string, [revision: number, text: string]>()
      for (const { id, revision, state, reason } of await bench.facts()) {
        const [known] = states.get(String(id)) ?? [-1]
        if (Number(revision) >= known)
          states.set(String(id), [Number(revision), [state, reason].filter(Boolean).join(' ')])
      }
      return Object.fromEntries([...states].map(([id, [, text]]) => [id, text]))
    },
    unfinished: () => redis.smembers(keys.unfinishedKey(prefix, QUEUE, scheduleId)),
    held: () => redis.hget(keys.heldKey(prefix, QUEUE, scheduleId), 'id'),
    deps: { redis, prefix, nowIso: NOW },
  }
}
