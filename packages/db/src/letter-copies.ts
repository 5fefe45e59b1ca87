import type { RunMessage } from '@jadwal/domain'
import type { Db, RunRow } from './database.ts'
import { listLastSpecs } from './list-last-specs.ts'
import { rowMessage } from './row-message.ts'

/** A dead run as its row tells of it. */
export interface LetterCopy {
  job: string
  message: RunMessage
  priority: number
}

/**
 * What to redrive these dead runs from where Redis has their letters no more. No row says what was asked
 * over the job's own attempts and timeout: runs of a schedule get what its last version asks for.
 */
export async function copyLetters(
  db: Db,
  rows: readonly RunRow[],
): Promise<Map<string, LetterCopy>> {
  const specs = await listLastSpecs(
    db,
    rows.flatMap((row) => row.schedule_id ?? []),
  )
  const copies = new Map<string, LetterCopy>()
  for (const row of rows) {
    const { attempts, timeoutMs } = specs.get(row.schedule_id ?? '') ?? {}
    const message = rowMessage(row)
    if (attempts !== undefined) message.attempts = attempts
    if (timeoutMs !== undefined) message.timeoutMs = timeoutMs
    copies.set(row.id, { job: row.job, message, priority: row.priority ?? 0 })
  }
  return copies
}
