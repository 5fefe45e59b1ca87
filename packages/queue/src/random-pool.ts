import { randomFillSync } from 'node:crypto'

const pool = new Uint8Array(4_000)
let used = pool.length

/** Random bytes of the system's generator, asked for in advance: a question for each ten costs more than the rest of an id. */
export function randomFromPool(length: number): Uint8Array {
  if (used + length > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += length
  return pool.subarray(used - length, used)
}
