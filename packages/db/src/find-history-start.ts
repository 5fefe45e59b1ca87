import type { Db } from './database.ts'
import { listPartitions, partitionStart } from './partitions.ts'

/** The beginning of the first day that the history keeps whole; -Infinity while no day has been dropped. */
export async function findHistoryStart(db: Db): Promise<number> {
  const [first] = await listPartitions(db, 'runs')
  return (first === undefined ? undefined : partitionStart(first)) ?? -Infinity
}
