import { isEnvelope, type RunMessage } from '@jadwal/domain'
import type { RunRow } from './database.ts'

type Told = Pick<
  RunRow,
  | 'payload'
  | 'search'
  | 'labels'
  | 'schedule_id'
  | 'schedule'
  | 'tick_at'
  | 'term'
  | 'backfill_id'
  | 'redrive_of'
  | 'parent_id'
  | 'idempotency_key'
>

/** The message that a run had, as far as its row tells: not what was asked over the job's own attempts and timeout (see copyLetters()). */
export function rowMessage(row: Told): RunMessage {
  const { labels, schedule_id, schedule, tick_at, term, backfill_id } = row
  return {
    v: 1,
    payload: row.payload,
    ...(row.search !== null && isEnvelope(row.payload) ? { search: row.search } : {}),
    ...(schedule_id === null || schedule === null
      ? {}
      : {
          schedule: {
            id: schedule_id,
            name: schedule,
            ...(tick_at === null ? {} : { tickAt: tick_at.toISOString() }),
            ...(term === null ? {} : { term }),
            ...(backfill_id === null ? {} : { backfillId: backfill_id }),
          },
        }),
    ...(labels === null ? {} : { labels }),
    ...(row.redrive_of === null ? {} : { redriveOf: row.redrive_of }),
    ...(row.parent_id === null ? {} : { parentId: row.parent_id }),
    ...(row.idempotency_key === null ? {} : { idempotencyKey: row.idempotency_key }),
  }
}
