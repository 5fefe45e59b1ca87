import {
  type Clock,
  newRunId,
  type OverlapPolicy,
  type RunFact,
  type RunId,
  type RunMessage,
  type ScheduleId,
  type ScheduleSpec,
} from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { type Message, MessageAdder } from './add-messages.ts'
import { redisReady } from './connections.ts'
import { payloadBytes } from './enqueue.ts'
import { bullPrefix } from './keys.ts'
import { createMemoryGauge, PRODUCERS_STOP_AT } from './memory-watch.ts'
import { QueueOpener } from './open-queue.ts'
import { randomFromPool } from './random-pool.ts'
import { answering, tryLater } from './redis-trouble.ts'
import { registerQueues } from './registry.ts'
import { safeJson } from './run-fact.ts'
import { runMessageOptions } from './run-message.ts'
import { type AddedRun, addVerdicts, type RunVerdict } from './verdict-script.ts'

/** How long a call waits for a connection that is being made again. */
const READY_WITHIN_MS = 1_000

export interface TriggerRequest {
  schedule: { id: ScheduleId; name: string }
  job: { name: string; queue: string }
  spec: Pick<ScheduleSpec, 'labels' | 'attempts' | 'timeoutMs' | 'priority'>
  payload: unknown
  overlap: OverlapPolicy
}

export type TriggerResult =
  | { triggered: true; id: RunId }
  /** The overlap policy is `skip`, and this run is unfinished. */
  | { triggered: false; unfinished: string }

/** Gives schedules runs by hand. */
export interface Trigger {
  /**
   * Gives a schedule a run now, which counts for overlap as that of a tick does; the schedule's last
   * tick stays as it is. Where `skip` forbids the run, nothing is written. Errors as of a producer.
   */
  run(request: TriggerRequest): Promise<TriggerResult>
  close(): Promise<void>
}

export interface TriggerDeps {
  /** A producer's connection. */
  redis: Redis
  prefix: string
  clock: Clock
  onError: (error: Error) => void
}

export function createTrigger({ redis, prefix, clock, onError }: TriggerDeps): Trigger {
  const memoryUse = createMemoryGauge(redis, clock)
  const opener = new QueueOpener(redis, onError)
  const adder = new MessageAdder(redis)

  async function add(request: TriggerRequest): Promise<TriggerResult> {
    const { schedule, job, overlap } = request
    const nowMs = clock.now().getTime()
    await registerQueues(redis, prefix, [job.queue])
    const queue = await opener.open(job.queue, {
      prefix: bullPrefix(prefix, job.queue),
      skipMetasUpdate: true,
    })
    const { message, fact } = triggeredRun(request, nowMs)
    const tx = await adder.multi(queue, [message])
    const at = { prefix, queue: job.queue, nowIso: new Date(nowMs).toISOString() }
    const run: AddedRun = {
      id: message.id,
      owner: schedule.id,
      overlap: overlap === 'skip' ? 'refuse' : overlap,
      field: '',
      tickAtMs: nowMs,
      dueAtMs: nowMs,
      fact,
    }
    addVerdicts(tx, at, { facts: [], runs: [run] })
    const replies = (await tx.exec()) ?? []
    for (const [error] of replies) if (error) throw error
    const [verdict] = (replies.at(-1)?.[1] ?? []) as RunVerdict[]
    if (verdict === 1) return { triggered: true, id: message.id }
    if (typeof verdict === 'string') return { triggered: false, unfinished: verdict }
    throw new Error(`the run ${message.id} was not added to the queue ${job.queue}`)
  }

  return {
    async run(request) {
      payloadBytes(request.payload)
      return await answering(async () => {
        await redisReady(redis, READY_WITHIN_MS)
        if ((await memoryUse()) >= PRODUCERS_STOP_AT) throw tryLater()
        return await add(request)
      })
    },
    async close() {
      await opener.close()
    },
  }
}

/** The message of a run that somebody triggers, and its fact from after its state on. */
function triggeredRun(
  { schedule, job, spec, payload }: TriggerRequest,
  nowMs: number,
): { message: Message & { id: RunId }; fact: string } {
  const id = newRunId(nowMs, randomFromPool(10))
  const priority = spec.priority ?? 0
  const data: RunMessage = {
    v: 1,
    payload,
    schedule,
    ...(spec.labels ? { labels: spec.labels } : {}),
    ...(spec.attempts === undefined ? {} : { attempts: spec.attempts }),
    ...(spec.timeoutMs === undefined ? {} : { timeoutMs: spec.timeoutMs }),
  }
  const fact = {
    id,
    job: job.name,
    queue: job.queue,
    schedule_id: schedule.id,
    schedule: schedule.name,
    payload,
    labels: spec.labels ?? null,
    priority,
    enqueued_at: new Date(nowMs).toISOString(),
    attempt: 0,
  } satisfies Partial<RunFact>
  const options = runMessageOptions({ enqueuedAtMs: nowMs, priority })
  return {
    message: { id, name: job.name, data, options },
    fact: safeJson(JSON.stringify(fact)).slice(1),
  }
}
