import { readEntries } from './bullmq-entries.ts'
import { findQueues } from './bullmq-queues.ts'
import { connectToRedis, publicUrl } from './bullmq-redis.ts'
import { bullmqReport } from './bullmq-report.ts'
import { BULLMQ_DEFAULTS, RepeatableTakeOver } from './bullmq-schedules.ts'
import { fileDefaults, type ImportOptions } from './import-options.ts'
import { writeReport } from './import-report.ts'
import { messageOf } from './input-file.ts'
import { JobMap } from './job-map.ts'
import { RedisReadError } from './redis-error.ts'
import { scheduleFileText } from './schedule-file-text.ts'
import type { Terminal } from './terminal.ts'

export interface ImportBullmqOptions extends ImportOptions {
  redisUrl: string
  prefix: string
  /** Absent: all of the prefix. */
  queue?: string[]
  /** Of `queue/name`: the job. */
  map?: ReadonlyMap<string, string>
  timezone?: string
}

/** `jadwal import bullmq`: gives 0 when all queues were read, and 1 when Redis or one of them can't be. */
export async function importBullmq(
  terminal: Terminal,
  options: ImportBullmqOptions,
): Promise<number> {
  const { redisUrl, prefix, timezone } = options
  const jobs = new JobMap(options.map ?? new Map())
  const takeOver = new RepeatableTakeOver({
    jobs,
    timezone: timezone ?? 'UTC',
    nowMs: terminal.clock.now().getTime(),
  })
  try {
    await readQueues(options, takeOver)
  } catch (error) {
    const message = error instanceof RedisReadError ? '' : `${publicUrl(redisUrl)} cannot be read: `
    terminal.writeError(`jadwal: ${message}${messageOf(error)}\n`)
    return 1
  }
  const title = `${publicUrl(redisUrl)} ${prefix}`
  terminal.writeOutput(
    scheduleFileText({
      comment: `Taken over from BullMQ at ${title}. The defaults are what BullMQ does.`,
      defaults: fileDefaults(BULLMQ_DEFAULTS, options),
      taken: takeOver.taken,
    }),
  )
  terminal.writeError(
    writeReport(bullmqReport({ title, prefix, takeOver, jobs, timezone }), options.json),
  )
  return 0
}

async function readQueues(
  { redisUrl, prefix, queue = [] }: ImportBullmqOptions,
  takeOver: RepeatableTakeOver,
): Promise<void> {
  const redis = await connectToRedis(redisUrl)
  try {
    for (const name of await findQueues(redis, { prefix, queues: queue }))
      takeOver.addQueue(await readEntries(redis, prefix, name))
  } finally {
    redis.disconnect()
  }
}
