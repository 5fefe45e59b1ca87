import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { RedisReadError } from './redis-error.ts'

type Hash = Record<string, string>

/** One member of a queue's `repeat`, with what Redis holds of it. */
export interface RepeatEntry {
  queue: string
  /** The id of a job scheduler, or the key of a legacy repeatable. */
  member: string
  /** `bull:mail:repeat:nightly`. */
  key: string
  /** When it is due next. */
  nextMs: number
  /** Empty when there is none. */
  meta: Hash
  /** The job that waits for `nextMs`; empty when there is none. */
  job: Hash
}

export interface QueueEntries {
  entries: RepeatEntry[]
  paused: boolean
}

const PAGE = 500

/** Reads all that repeats in a queue. */
export async function readEntries(
  redis: Redis,
  prefix: string,
  queue: string,
): Promise<QueueEntries> {
  const base = `${prefix}:${queue}`
  const kind = await redis.type(`${base}:repeat`)
  if (kind !== 'zset' && kind !== 'none')
    throw new RedisReadError(`${base}:repeat is a ${kind}, not a sorted set as BullMQ makes it`)
  const due = await readMembers(redis, `${base}:repeat`)
  const entries: RepeatEntry[] = []
  for (let start = 0; start < due.length; start += PAGE) {
    const page = due.slice(start, start + PAGE)
    const hashes = await readHashes(
      redis,
      page.flatMap(([member, nextMs]) => [
        `${base}:repeat:${member}`,
        ...jobIds(member, nextMs).map((id) => `${base}:${id}`),
      ]),
    )
    let at = 0
    for (const [member, nextMs] of page) {
      const ids = jobIds(member, nextMs)
      const [meta = {}, ...jobs] = hashes.slice(at, at + 1 + ids.length)
      at += 1 + ids.length
      const job = jobs.find((hash) => Object.keys(hash).length > 0) ?? {}
      entries.push({ queue, member, key: `${base}:repeat:${member}`, nextMs, meta, job })
    }
  }
  for (const entry of entries) if (isBare(entry)) entry.job = await findDelayed(redis, base, entry)
  const paused =
    (await redis.hexists(`${base}:meta`, 'paused')) || (await redis.exists(`${base}:meta-paused`))
  return { entries: entries.toSorted((a, b) => (a.member < b.member ? -1 : 1)), paused: paused > 0 }
}

/** ZSCAN, since scores change while one reads. */
async function readMembers(redis: Redis, key: string): Promise<[string, number][]> {
  const due = new Map<string, number>()
  let cursor = '0'
  do {
    const [next, flat] = await redis.zscan(key, cursor, 'COUNT', PAGE)
    for (let i = 0; i + 1 < flat.length; i += 2) due.set(flat[i] ?? '', Number(flat[i + 1]))
    cursor = next
  } while (cursor !== '0')
  return [...due]
}

async function readHashes(redis: Redis, keys: readonly string[]): Promise<Hash[]> {
  const pipeline = redis.pipeline()
  for (const key of keys) pipeline.hgetall(key)
  const replies = (await pipeline.exec()) ?? []
  // A key that is no hash, such as that of a scheduler called like another key, holds nothing for us.
  return replies.map(([error, hash]) => {
    if (error && !error.message.startsWith('WRONGTYPE')) throw error
    return (error ? {} : hash) as Hash
  })
}

/** The ids that the job for an instant may have. Legacy ones are hashes of name, id and key. */
function jobIds(member: string, nextMs: number): string[] {
  const { name, id } = legacyParts(member)
  const legacy = [name + id, name].map((text) => md5(`${text}${md5(member)}`))
  return [member, ...new Set(member.includes(':') ? legacy : [])].map(
    (part) => `repeat:${part}:${nextMs}`,
  )
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex')
}

/** A legacy key taken apart: `name:id:endDate:tz:pattern`, of which Bull leaves out the zone of intervals. */
export function legacyParts(member: string): {
  name: string
  id: string
  endDate: string
  tz: string
  suffix: string
} {
  const parts = member.split(':')
  const suffix = parts.pop() ?? ''
  const tz = /^\d+$/.test(suffix) && parts.length < 4 ? '' : (parts.pop() ?? '')
  const endDate = parts.pop() ?? ''
  const id = parts.pop() ?? ''
  return { name: parts.join(':'), id, endDate, tz, suffix }
}

/** What has lost its job, or whose job has an id that can't be told. */
function isBare({ meta, job, nextMs }: RepeatEntry): boolean {
  return meta['ic'] === undefined && Object.keys(job).length === 0 && Number.isFinite(nextMs)
}

/** BullMQ scores delayed jobs by their time in ms, shifted by 12 bits. */
const SHIFT = 0x1000
const MOST_CANDIDATES = 100

/** Looks for the waiting job among those that are due at the same time. */
async function findDelayed(
  redis: Redis,
  base: string,
  { member, nextMs }: RepeatEntry,
): Promise<Hash> {
  const ids = await redis.zrangebyscore(
    `${base}:delayed`,
    nextMs * SHIFT,
    (nextMs + 1) * SHIFT - 1,
    'LIMIT',
    0,
    MOST_CANDIDATES,
  )
  const jobs = await readHashes(
    redis,
    ids.filter((id) => id.endsWith(`:${nextMs}`)).map((id) => `${base}:${id}`),
  )
  return (
    jobs.find(({ rjk, opts = '' }) => rjk === member || opts.includes(JSON.stringify(member))) ?? {}
  )
}
