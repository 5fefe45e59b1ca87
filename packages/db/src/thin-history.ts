import { DAY, firstUuidAt } from '@jadwal/domain'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'
import { unlessDropped } from './dropped-partition.ts'
import { listPartitions, partitionStart } from './partitions.ts'
import { listQueuesOfJob } from './queues-of-job.ts'
import {
  ENDED_STATES,
  type EndedState,
  goesBefore,
  isInShare,
  type RetentionOptions,
} from './retention-rules.ts'

/** Rows that one statement looks at. */
const WALKED = 5_000
const NO_ID = '00000000-0000-0000-0000-000000000000'

export interface ThinOptions extends RetentionOptions {
  /** Between two statements, with the ms that the last one took; false: no further. */
  pause: (tookMs: number) => Promise<boolean>
}

/**
 * Deletes the runs that their jobs keep shorter than others, with their attempts: those that ended longer
 * ago than their days, and succeeded ones that are not in their share once a day is over. Rows of
 * ticks stay, and so do dead runs that nobody has settled. A row that a late fact brings back goes the next
 * time. Safe to repeat and to break off. Served by runs_job_queue_state_idx. Returns how many it deleted.
 */
export async function thinHistory(db: Db, options: ThinOptions): Promise<number> {
  let deleted = 0
  let startMs = performance.now()
  for await (const { count } of statements(db, options)) {
    deleted += count
    const goOn = await options.pause(performance.now() - startMs)
    if (!goOn) break
    startMs = performance.now()
  }
  return deleted
}

/** Yields after each statement, with the rows that it deleted. */
async function* statements(db: Db, options: RetentionOptions): AsyncGenerator<{ count: number }> {
  const days = await listPartitions(db, 'runs')
  for (const { job, retention } of options.retentions) {
    for (const state of ENDED_STATES) {
      const goes = goesBefore(options, { job, retention }, state)
      if (goes === undefined) continue
      const inDays = days.filter((name) => (partitionStart(name) ?? 0) < goes.border.getTime())
      for (const table of [...inDays, 'runs_default']) {
        const queues = await unlessDropped(() => listQueuesOfJob(db, table, job))
        yield { count: 0 }
        for (const queue of queues ?? [])
          yield* thinQueue(db, { table, job, queue, state, ...goes })
      }
    }
  }
}

async function* thinQueue(db: Db, walk: Walk): AsyncGenerator<{ count: number }> {
  for (let after: string | undefined = NO_ID; after !== undefined;) {
    const from: string = after
    const walked = await unlessDropped(() => thinBatch(db, walk, from))
    after = walked?.lastId
    yield { count: walked?.deleted ?? 0 }
  }
}

interface Walk {
  table: string
  job: string
  queue: string
  state: EndedState
  border: Date
  share: number
}

/** The rows after an id, in its order; says where to go on. */
async function thinBatch(
  db: Db,
  { table, job, queue, state, border, share }: Walk,
  after: string,
): Promise<{ deleted: number; lastId: string | undefined }> {
  const runs = sql.table(table)
  const { rows } = await sql<{ walked: number; deleted: number; lastId: string | null }>`
    WITH walked AS MATERIALIZED (
      SELECT id, finished_at < ${border} AND tick_at IS NULL AND NOT ${isInShare(share)}
        AND ${isSettled(state)} AS goes
      FROM ${runs} AS r WHERE job = ${job} AND queue = ${queue} AND state = ${state}
        AND id > ${after}::uuid ORDER BY id LIMIT ${WALKED}
    ), gone AS (
      DELETE FROM ${runs} WHERE id = ANY (ARRAY(SELECT id FROM walked WHERE goes)) RETURNING id
    ), gone_attempt AS (
      DELETE FROM ${sql.table('attempts')} WHERE run_id IN (SELECT id FROM gone) AND ${ofDay(table)}
    ) SELECT (SELECT count(*) FROM walked) AS walked, (SELECT count(*) FROM gone) AS deleted,
      (SELECT id FROM walked ORDER BY id DESC LIMIT 1) AS "lastId"`.execute(db)
  const [row] = rows
  const isMore = row !== undefined && row.walked === WALKED
  return { deleted: row?.deleted ?? 0, lastId: isMore ? (row.lastId ?? undefined) : undefined }
}

/** A dead letter that nobody has decided about waits for somebody to do so. */
function isSettled(state: EndedState): RawBuilder<boolean> {
  if (state !== 'dead') return sql`true`
  return sql`EXISTS (SELECT FROM ${sql.table('settled_letters')} AS s WHERE s.run_id = r.id)`
}

/** Attempts lie in the day of their run. */
function ofDay(table: string): RawBuilder<boolean> {
  const startMs = partitionStart(table)
  if (startMs === undefined) return sql`true`
  return sql`run_id >= ${firstUuidAt(startMs)}::uuid AND run_id < ${firstUuidAt(startMs + DAY)}::uuid`
}
