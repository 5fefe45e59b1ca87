import type { Kysely } from 'kysely'
import type { Database } from './database.ts'

/** How many attempts of each of these runs have failed; a run without any is left out. */
export async function countFailedAttempts(
  db: Kysely<Database>,
  runIds: readonly string[],
): Promise<Map<string, number>> {
  if (runIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('attempts')
    .select(['run_id', (eb) => eb.fn.countAll<string>().as('failed')])
    .where('run_id', 'in', runIds)
    .where('state', '=', 'failed')
    .groupBy('run_id')
    .execute()
  return new Map(rows.map(({ run_id, failed }) => [run_id, Number(failed)]))
}
