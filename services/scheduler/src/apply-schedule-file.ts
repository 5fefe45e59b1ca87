import { applySchedules, ChangeRefusedError, type Db, hasSchedules } from '@jadwal/db'
import { keys } from '@jadwal/queue'
import { ConfigError, type Logger, sleep } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import type { Catalogue } from './catalogue.ts'
import { checkAgainstCatalogue, loadScheduleFile, unknownJobs, wrong } from './schedule-file.ts'

/** How long a start waits for workers that start at the same time to publish their jobs. */
const FIRST_JOBS_MS = 20_000
/** And for further ones, when some have been published. */
const MORE_JOBS_MS = 5_000
const LOOK_EACH_MS = 500

export interface ApplyDeps {
  db: Db
  redis: Redis
  prefix: string
  catalogue: Catalogue
  log: Logger
  stop: AbortSignal
}

/**
 * Applies the schedule file at a start. One that is wrong is an error as long as nothing of a file is in
 * force. Afterwards a start is more often the answer to a crash than to an edit, and the schedules in
 * force go on: to stop firing them all would be worse than an edit that waits. Throws `ConfigError`.
 */
export async function applyAtStart(deps: ApplyDeps, path: string): Promise<void> {
  try {
    await applyScheduleFile(deps, path)
  } catch (error) {
    if (!(error instanceof ConfigError) || !(await hasSchedules(deps.db, 'file'))) throw error
    deps.log.error(
      { file: path, problem: error.message },
      'schedule file not applied, the schedules in force go on',
    )
  }
}

/**
 * Applies the schedule file, whole or not at all. Jobs that no worker serves are an error, unless
 * there has never been any worker: then their schedules wait for one. Throws `ConfigError`.
 */
async function applyScheduleFile(deps: ApplyDeps, path: string): Promise<void> {
  const { db, redis, prefix, catalogue, log } = deps
  const file = await loadScheduleFile(path)
  await waitForJobs(deps, () => unknownJobs(file, catalogue).length === 0)
  if (catalogue.names().length > 0) checkAgainstCatalogue(path, file, catalogue)
  else log.warn({ file: path }, 'schedules wait: no worker has published any job yet')

  const applied = await applySchedules(db, {
    schedules: file.schedules,
    calendars: file.calendars,
    prune: file.prune,
    source: 'file',
    author: `file ${path}`,
  }).catch((error: unknown) => {
    throw error instanceof ChangeRefusedError ? wrong(path, error.problems) : error
  })
  const { added, changed, removed, foreign, unchanged, calendars } = applied
  log.info(
    { file: path, added, changed, removed, unchanged: unchanged.length, calendars },
    'schedule file applied',
  )
  if (added.length + changed.length + removed.length > 0) {
    await redis.publish(keys.schedulesChangedChannel(prefix), 'changed')
  }
  if (foreign.length + calendars.foreign.length > 0)
    log.warn(
      { schedules: foreign, calendars: calendars.foreign },
      'schedules or calendars of the same name were made elsewhere and left alone',
    )
}

async function waitForJobs(deps: ApplyDeps, known: () => boolean): Promise<void> {
  const { catalogue, redis, prefix, stop } = deps
  for (let waitedMs = 0; !stop.aborted; waitedMs += LOOK_EACH_MS) {
    await catalogue.refresh(redis, prefix)
    const longestMs = catalogue.names().length > 0 ? MORE_JOBS_MS : FIRST_JOBS_MS
    if (known() || waitedMs >= longestMs) return
    await sleep(LOOK_EACH_MS, stop)
  }
}
