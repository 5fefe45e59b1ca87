import {
  type Clock,
  newRunId,
  type OverlapPolicy,
  type PayloadRules,
  type RunId,
  type ScheduleId,
  type ScheduleSpec,
} from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { MessageAdder } from './add-messages.ts'
import { bullPrefix } from './keys.ts'
import { createMemoryGauge, PRODUCERS_STOP_AT } from './memory-watch.ts'
import { QueueOpener } from './open-queue.ts'
import { Patience } from './patience.ts'
import type { PayloadCipher } from './payload-cipher.ts'
import { payloadBytes } from './payload-limit.ts'
import { randomFromPool } from './random-pool.ts'
import { answering, tryLater } from './redis-trouble.ts'
import { registerQueues } from './registry.ts'
import { scheduledRun } from './scheduled-run.ts'
import { type AddedRun, addVerdicts, type RunVerdict } from './verdict-script.ts'

export interface TriggerRequest {
  schedule: { id: ScheduleId; name: string }
  job: { name: string; queue: string } & PayloadRules
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
  /** The largest payload, in bytes as JSON; 512 KiB when left out. */
  maxPayloadBytes?: number | undefined
  /** Encrypts the payloads of jobs that ask for it; without it they are refused with `MissingKeyError`. */
  cipher?: PayloadCipher | undefined
}

export function createTrigger(deps: TriggerDeps): Trigger {
  const { redis, prefix, clock, onError, maxPayloadBytes, cipher } = deps
  const patience = new Patience(redis)
  const memoryUse = createMemoryGauge(redis, clock)
  const opener = new QueueOpener(redis, onError)
  const adder = new MessageAdder(redis)

  async function add(request: TriggerRequest): Promise<TriggerResult> {
    const { schedule, job, overlap } = request
    const nowMs = clock.now().getTime()
    await patience.for(registerQueues(redis, prefix, [job.queue]))
    const bull = { prefix: bullPrefix(prefix, job.queue), skipMetasUpdate: true }
    const queue = await patience.for(opener.open(job.queue, bull))
    const id = newRunId(nowMs, randomFromPool(10))
    const { message, options, fact } = scheduledRun({
      id,
      queue: job.queue,
      schedule,
      spec: { ...request.spec, job: job.name },
      payload: request.payload,
      rules: job,
      cipher,
      enqueuedAtMs: nowMs,
    })
    const tx = await adder.multi(queue, [{ id, name: job.name, data: message, options }])
    const at = { prefix, queue: job.queue, nowIso: new Date(nowMs).toISOString() }
    const run: AddedRun = {
      id,
      owner: schedule.id,
      overlap: overlap === 'skip' ? 'refuse' : overlap,
      field: '',
      tickAtMs: nowMs,
      dueAtMs: nowMs,
      fact,
    }
    addVerdicts(tx, at, { facts: [], runs: [run] })
    const replies = (await patience.for(tx.exec())) ?? []
    for (const [error] of replies) if (error) throw error
    const [verdict] = (replies.at(-1)?.[1] ?? []) as RunVerdict[]
    if (verdict === 1) return { triggered: true, id }
    if (typeof verdict === 'string') return { triggered: false, unfinished: verdict }
    throw new Error(`the run ${id} was not added to the queue ${job.queue}`)
  }

  return {
    async run(request) {
      payloadBytes(request.payload, maxPayloadBytes)
      return await answering(async () => {
        await patience.ready()
        if ((await patience.for(memoryUse())) >= PRODUCERS_STOP_AT) throw tryLater()
        return await add(request)
      })
    },
    async close() {
      await opener.close()
    },
  }
}
