import type { Database } from '@jadwal/db'
import type { Clock } from '@jadwal/domain'
import { sleep } from '@jadwal/runtime'
import type { Kysely } from 'kysely'

const PAUSE_MS = 250

/** Rejects when Postgres does not answer, or the history is not there. */
export async function askPostgres(db: Kysely<Database>): Promise<void> {
  await db.selectFrom('schedule_revision').select('revision').execute()
}

/** Resolves when Postgres answers; rejects with its last error after `timeoutMs`. */
export async function postgresReady(
  db: Kysely<Database>,
  clock: Pick<Clock, 'monotonicMs'>,
  timeoutMs: number,
): Promise<void> {
  const until = clock.monotonicMs() + timeoutMs
  for (;;) {
    try {
      await askPostgres(db)
      return
    } catch (error) {
      if (clock.monotonicMs() >= until) throw error
      await sleep(PAUSE_MS)
    }
  }
}
