import {
  beginCanaryStep,
  type Db,
  type DeadLetterFilters,
  listUnsettledIds,
  type RedriveRow,
} from '@jadwal/db'

/** Letters of the small steps; the step after them has the rest. */
const SIZES = [1, 10] as const

/** Whether a redrive is in one of its small steps, or has none begun. */
export function isInCanary({ canary, step }: Pick<RedriveRow, 'canary' | 'step'>): boolean {
  return canary && step <= SIZES.length
}

/**
 * Begins the next step: chooses its letters, oldest first, and writes them down before any is
 * redriven. Of several leaders that do so one chooses. A small step waits for a letter until every
 * death from before the redrive is recorded (`isWhole`).
 */
export async function nextCanaryStep(
  db: Db,
  { id, step }: Pick<RedriveRow, 'id' | 'step'>,
  { filters, isWhole }: { filters: DeadLetterFilters; isWhole: () => Promise<boolean> },
): Promise<void> {
  const size = SIZES[step]
  const rows = size === undefined ? [] : await listUnsettledIds(db, filters, { limit: size })
  if (size !== undefined && rows.length === 0 && !(await isWhole())) return
  await beginCanaryStep(db, id, { step: step + 1, letters: rows.map((row) => row.id) })
}
