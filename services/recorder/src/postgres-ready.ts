import { askPostgres, type Db } from '@jadwal/db'
import type { Clock } from '@jadwal/domain'
import { sleep } from '@jadwal/runtime'

const PAUSE_MS = 250

/** Resolves when Postgres answers; rejects with its last error after `timeoutMs`. */
export async function postgresReady(
  db: Db,
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
