import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isReachableByAll, unprivilegedUser } from '@jadwal/embedded'

const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 4 * 1024 ** 3

/** A folder of our own that everybody can pass through, as the Postgres of a root user must. */
export function makeTempFolder(purpose: string): string {
  const base = unprivilegedUser() && !isReachableByAll(tmpdir()) ? '/var/tmp' : tmpdir()
  const folder = mkdtempSync(join(base, `jadwal-${purpose}-`))
  chmodSync(folder, 0o755)
  return folder
}

/**
 * The same in memory where there is enough of it: a folder for what a crash of the machine may cost.
 * File systems take long to make the thousands of files of a database, longer where others were just deleted.
 */
export function makeMemoryFolder(purpose: string): string {
  if (!hasRoomInMemory()) return makeTempFolder(purpose)
  const folder = mkdtempSync(join(MEMORY, `jadwal-${purpose}-`))
  chmodSync(folder, 0o755)
  return folder
}

function hasRoomInMemory(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}

export function removeTempFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
