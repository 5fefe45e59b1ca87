import type { Migration } from 'kysely'
import { createHistoryAndSchedules } from './20261130T0800Z-create-history-and-schedules.ts'
import { completeSchedules } from './20261130T1300Z-complete-schedules.ts'
import { sayWhoDeletesSchedules } from './20261130T1400Z-say-who-deletes-schedules.ts'

/** One line a migration, oldest first. A migration that was released is never changed again. */
export const migrations: Record<string, Migration> = {
  '20261130T0800Z-create-history-and-schedules': createHistoryAndSchedules,
  '20261130T1300Z-complete-schedules': completeSchedules,
  '20261130T1400Z-say-who-deletes-schedules': sayWhoDeletesSchedules,
}
