import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { TestRedis } from '@jadwal/testkit'

/** Cuts the last bytes off the newest append-only file, as a crash of the machine would. */
export function cutTail(redis: TestRedis, bytes: number): void {
  const folder = join(redis.folder, 'appendonlydir')
  const newest = readdirSync(folder)
    .filter((name) => name.endsWith('.incr.aof'))
    .toSorted()
    .at(-1)
  if (newest === undefined) throw new Error(`no append-only file in ${folder}`)
  const file = join(folder, newest)
  truncateSync(file, Math.max(0, statSync(file).size - bytes))
}
