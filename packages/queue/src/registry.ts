import { JobDescription, WorkerInfo } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { jobsKey, leaderKey, queuesKey, workersKey } from './keys.ts'

/** A worker that was not seen for this long counts as gone. */
const WORKER_GONE_MS = 20_000

/** Adds queues to the list that the recorder and the api read. Call it before the first message. */
export async function registerQueues(
  redis: Redis,
  prefix: string,
  queues: readonly string[],
): Promise<void> {
  if (queues.length > 0) await redis.sadd(queuesKey(prefix), ...queues)
}

/** The names of all queues that ever had a run or a worker, sorted. */
export async function listQueues(redis: Redis, prefix: string): Promise<string[]> {
  const queues = await redis.smembers(queuesKey(prefix))
  return queues.toSorted()
}

/** Publishes the jobs that a worker serves, and their queues. Jobs of other workers stay. */
export async function publishCatalogue(
  redis: Redis,
  prefix: string,
  jobs: readonly JobDescription[],
): Promise<void> {
  if (jobs.length === 0) return
  await registerQueues(redis, prefix, [...new Set(jobs.map((job) => job.queue))])
  await redis.hset(
    jobsKey(prefix),
    Object.fromEntries(jobs.map((job) => [job.name, JSON.stringify(job)])),
  )
}

/** All jobs that a worker ever published, by name. An entry that can't be read is left out. */
export async function readCatalogue(redis: Redis, prefix: string): Promise<JobDescription[]> {
  return parseAll(JobDescription, await redis.hvals(jobsKey(prefix))).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )
}

/** The job of this name as the last worker to do so published it; undefined when none ever did. */
export async function findJob(
  redis: Redis,
  prefix: string,
  name: string,
): Promise<JobDescription | undefined> {
  const text = await redis.hget(jobsKey(prefix), name)
  return text === null ? undefined : parseAll(JobDescription, [text])[0]
}

/** The live workers. Forgets those that were last seen more than 20 s before `nowMs`. */
export async function readWorkers(
  redis: Redis,
  prefix: string,
  nowMs: number,
): Promise<WorkerInfo[]> {
  const workers = parseAll(WorkerInfo, await redis.hvals(workersKey(prefix)))
  const isGone = (worker: WorkerInfo): boolean => nowMs - Date.parse(worker.seenAt) > WORKER_GONE_MS
  const gone = workers.filter(isGone)
  if (gone.length > 0)
    await redis.hdel(workersKey(prefix), ...gone.map((worker) => worker.instance))
  return workers
    .filter((worker) => !isGone(worker))
    .toSorted((a, b) => (a.instance < b.instance ? -1 : 1))
}

const LeaderHash = z.object({
  term: z.coerce.number(),
  instance: z.string(),
  since: z.string(),
  ended: z.string().optional(),
})
export type Leader = Omit<z.infer<typeof LeaderHash>, 'ended'>

/** Who leads now; undefined when nobody does or the last one has stepped down. */
export async function readLeader(redis: Redis, prefix: string): Promise<Leader | undefined> {
  const leader = LeaderHash.safeParse(await redis.hgetall(leaderKey(prefix)))
  if (!leader.success || leader.data.ended !== undefined) return undefined
  const { term, instance, since } = leader.data
  return { term, instance, since }
}

function parseAll<T>(schema: z.ZodType<T>, texts: string[]): T[] {
  return texts.flatMap((text) => {
    const parsed = schema.safeParse(parseJson(text))
    return parsed.success ? [parsed.data] : []
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
