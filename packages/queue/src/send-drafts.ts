import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { outboxKey } from './keys.ts'
import { delayedFact, type RunDraft } from './run-draft.ts'

/** Messages, and bytes of payload, in one pipeline. Larger ones keep Redis from answering anybody else. */
const BATCH = 500
const BATCH_BYTES = 4 * 1024 * 1024

/** Cuts what is to be enqueued into pieces of one queue that Redis takes without others having to wait for it. */
export function* batches(drafts: readonly RunDraft[]): Generator<RunDraft[]> {
  const open = new Map<string, { batch: RunDraft[]; bytes: number }>()
  for (const draft of drafts) {
    const of = open.get(draft.queue)
    if (of && of.batch.length < BATCH && of.bytes + draft.bytes <= BATCH_BYTES) {
      of.batch.push(draft)
      of.bytes += draft.bytes
      continue
    }
    if (of) yield of.batch
    open.set(draft.queue, { batch: [draft], bytes: draft.bytes })
  }
  for (const { batch } of open.values()) yield batch
}

/** Sends a batch of runs that nothing has to be looked up for. */
export async function sendPlain(
  queue: Queue,
  outbox: { redis: Redis; prefix: string },
  batch: readonly RunDraft[],
): Promise<void> {
  const facts = batch.flatMap((draft) => delayedFact(draft) ?? [])
  await add(queue, batch)
  // The message comes first: a run without a row is found when it runs, a row without a run would wait
  // for ever.
  if (facts.length > 0)
    await outbox.redis.xadd(outboxKey(outbox.prefix, queue.name), '*', 'facts', facts.join('\n'))
}

/** For a single message a pipeline costs four times as much as the command in it. */
async function add(queue: Queue, batch: readonly RunDraft[]): Promise<void> {
  const [first, second] = batch
  if (second) {
    const messages = batch.map(({ job, message, bull, id }) => ({
      name: job,
      data: message,
      opts: { ...bull, jobId: id },
    }))
    await queue.addBulk(messages)
  } else if (first) await queue.add(first.job, first.message, { ...first.bull, jobId: first.id })
}
