import type { Redis } from 'ioredis'
import { z } from 'zod'
import { appendEvents, type JadwalEvent } from './events.ts'
import { fuseNewsKey } from './keys.ts'

const Where = { queue: z.string(), job: z.string(), /** ms since the epoch. */ at: z.number() }
const Opened = { ...Where, failed: z.number(), ended: z.number(), openUntil: z.number() }

const Change = z.discriminatedUnion('type', [
  /** `failed` of the `ended` attempts in its window were too many. */
  z.object({ type: z.literal('opened'), ...Opened }),
  /** `failed` of the `ended` runs that were let through as probes were too many; `times` counts from 1. */
  z.object({ type: z.literal('reopened'), times: z.number(), ...Opened }),
  /** What was parked since `openedAt` (ms) is let out. */
  z.object({ type: z.literal('closed'), openedAt: z.number(), parked: z.number(), ...Where }),
])

/** What has become of a fuse. `text` is how the queue's news have it. */
export type FuseChange = z.infer<typeof Change> & { text: string }

/** Reads a change as the scripts write it. */
export function readChange(text: string): FuseChange {
  return { ...Change.parse(JSON.parse(text)), text }
}

/** Raises the event of a change that is told to everybody, and strikes it off the queue's news. */
export async function tellChange(redis: Redis, prefix: string, change: FuseChange): Promise<void> {
  const event = eventOf(change)
  if (!event) return
  await appendEvents(redis, prefix, [event])
  await redis.lrem(fuseNewsKey(prefix, change.queue), 1, change.text)
}

function eventOf(change: FuseChange): JadwalEvent | undefined {
  const { queue, job } = change
  const at = iso(change.at)
  switch (change.type) {
    case 'opened': {
      const { failed, ended, openUntil } = change
      const data = { queue, job, failed, ended, openUntil: iso(openUntil) }
      return { type: 'fuse.opened', at, data }
    }
    case 'closed': {
      const { openedAt, parked } = change
      return { type: 'fuse.closed', at, data: { queue, job, openedAt: iso(openedAt), parked } }
    }
    case 'reopened':
      return undefined
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
