import { fingerprint, type RunFact, type RunMessage, revision, type RunState } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { DeadLetter } from './dead-letter.ts'
import { keptMessage } from './kept-message.ts'
import { bullKey, deadKey } from './keys.ts'
import { endsRun, OUTCOME_FIELD, readStoredOutcome } from './outcome-record.ts'
import { scheduleFacts } from './run-fact.ts'
import { searchOutboxes } from './search-outboxes.ts'
import { isHeldScore } from './unfinished-lua.ts'

/** A run as Redis knows it. */
export type FoundRun = RunFact & {
  /** What its handler told last of how far it is, in whichever attempt. No fact has it, as it is not recorded. */
  progress?: unknown
}

/**
 * What Redis knows of a run that may be in one of the given queues, told as a fact; undefined when it
 * knows nothing.
 *
 * A run goes from its message to the outbox to Postgres. So the places are looked at in this order and
 * Postgres is read after them: a run that moves meanwhile is met further on, never missed.
 * A message that waits, runs or retries is told by where it lies. Of one that has ended, the fact in
 * the outbox is told, else its dead letter. Outboxes are looked through in part only (see
 * `searchOutboxes`), farther when one queue is given or has a message of the run.
 */
export async function findRunInRedis(
  redis: Redis,
  prefix: string,
  { queues, id }: { queues: readonly string[]; id: string },
): Promise<FoundRun | undefined> {
  const where = await queueOfMessage(redis, prefix, { queues, id })
  const told =
    where.live === undefined
      ? undefined
      : await readMessage(redis, prefix, { queue: where.live, id })
  if (told) return told
  const queue = where.live ?? where.dead
  const likely = queue === undefined ? queues : [queue]
  const recorded = await searchOutboxes(redis, prefix, { queues: likely, id })
  if (recorded) return recorded
  return where.dead === undefined
    ? undefined
    : await readDeadLetter(redis, prefix, { queue: where.dead, id })
}

/** The queue whose messages, and the one whose dead letters, have the id. */
async function queueOfMessage(
  redis: Redis,
  prefix: string,
  { queues, id }: { queues: readonly string[]; id: string },
): Promise<{ live?: string; dead?: string }> {
  const pipeline = redis.pipeline()
  for (const queue of queues) {
    pipeline.exists(bullKey(prefix, queue, id)).exists(deadKey(prefix, queue, id))
  }
  const replies = (await pipeline.exec()) ?? []
  const holds = replies.map(([error, value]) => {
    if (error) throw error
    return value === 1
  })
  const live = queues.find((_, at) => holds[at * 2])
  const dead = queues.find((_, at) => holds[at * 2 + 1])
  return { ...(live === undefined ? {} : { live }), ...(dead === undefined ? {} : { dead }) }
}

/** A message that has not ended, as it may be shown. Its hash and its place are read at one instant. */
export async function readMessage(
  redis: Redis,
  prefix: string,
  { queue, id }: { queue: string; id: string },
): Promise<FoundRun | undefined> {
  const replies = await redis
    .multi()
    .hgetall(bullKey(prefix, queue, id))
    .lpos(bullKey(prefix, queue, 'active'), id)
    .zscore(bullKey(prefix, queue, 'delayed'), id)
    .zscore(bullKey(prefix, queue, 'failed'), id)
    .zscore(bullKey(prefix, queue, 'completed'), id)
    .exec()
  const [hash, active, delayed, failed, completed] = (replies ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  }) as [Record<string, string>, number | null, string | null, string | null, string | null]
  if (hash['name'] === undefined) return undefined
  // The outcome is written before BullMQ is told, so an ended run's fact is in the outbox.
  if (failed !== null || completed !== null || hasEnded(hash[OUTCOME_FIELD])) return undefined
  const attempt = Number(hash['ats'] ?? 0)
  const isRunning = active !== null
  const state: RunState = isRunning
    ? 'running'
    : Number(hash['atm'] ?? 0) > 0
      ? 'retrying'
      : 'queued'
  // BullMQ's score of a delayed message: ms * 4096 and a sequence number.
  const isDue = delayed === null || isHeldScore(delayed)
  const runAtMs = isDue ? undefined : Math.floor(Number(delayed) / 4_096)
  const data = parseJson(hash['data'])
  const message = await keptMessage(redis, prefix, { job: hash['name'], data })
  const told = fact(hash, message, {
    id,
    queue,
    state,
    attempt,
    revision: revision(attempt, state),
    ...(runAtMs === undefined ? {} : { run_at: instant(runAtMs) }),
    ...(isRunning && hash['processedOn'] !== undefined
      ? { started_at: instant(Number(hash['processedOn'])), attempt_state: 'running' }
      : {}),
    ...(isRunning && hash['pb'] !== undefined ? { worker: hash['pb'] } : {}),
  })
  const progress = parseJson(hash['progress'])
  return progress == null ? told : { ...told, progress }
}

async function readDeadLetter(
  redis: Redis,
  prefix: string,
  { queue, id }: { queue: string; id: string },
): Promise<RunFact | undefined> {
  const hash = await redis.hgetall(deadKey(prefix, queue, id))
  const data = parseJson(hash['data'])
  const letter = DeadLetter.safeParse(data)
  if (!letter.success) return undefined
  const message = await keptMessage(redis, prefix, { job: hash['name'] ?? '', data })
  const { reason, error, attempt, at } = letter.data.death
  return fact(hash, message, {
    id,
    queue,
    state: 'dead',
    attempt,
    revision: revision(attempt, 'dead'),
    reason,
    error: error ?? null,
    fingerprint: error ? fingerprint(hash['name'] ?? '', error) : null,
    finished_at: at,
  })
}

type Told = Pick<RunFact, 'id' | 'queue' | 'state' | 'attempt' | 'revision'> & Partial<RunFact>

function fact(hash: Record<string, string>, message: RunMessage, told: Told): RunFact {
  return {
    kind: 'run',
    job: hash['name'] ?? '',
    payload: message.payload,
    search: message.search ?? null,
    result: null,
    priority: Number(hash['priority'] ?? 0),
    enqueued_at: instant(Number(hash['timestamp'] ?? 0)),
    ...scheduleFacts(message),
    labels: message.labels ?? null,
    redrive_of: message.redriveOf ?? null,
    parent_id: message.parentId ?? null,
    idempotency_key: message.idempotencyKey ?? null,
    ...told,
  }
}

function hasEnded(outcome: string | undefined): boolean {
  return endsRun(readStoredOutcome(outcome ?? null))
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
