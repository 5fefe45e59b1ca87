import { type Db, openDatabase } from '@jadwal/db'
import type { SchedulerConfig } from './config.ts'

const QUERY_TIMEOUT_MS = 60_000

export interface Databases {
  /** Of what the leader does now and then: all connections but one. */
  db: Db
  /** One connection, for the reading of schedules: that waits behind no upkeep. */
  ofKeeper: Db
  close(): Promise<void>
}

/** Opens both pools, which together have as many connections as the scheduler may have. */
export function openDatabases(
  database: SchedulerConfig['database'],
  onError: (error: Error) => void,
): Databases {
  const open = (max: number): ReturnType<typeof openDatabase> =>
    openDatabase({ ...database, max, queryTimeoutMs: QUERY_TIMEOUT_MS, onError })
  const [db, ofKeeper] = [open(database.max - 1), open(1)]
  return {
    db,
    ofKeeper,
    async close() {
      await Promise.all([db.destroy(), ofKeeper.destroy()])
    },
  }
}
