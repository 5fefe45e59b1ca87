import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isReachableByAll, unprivilegedUser } from '@jadwal/embedded'

/** A folder of our own that everybody can pass through, as the Postgres of a root user must. */
export function makeTempFolder(purpose: string): string {
  const base = unprivilegedUser() && !isReachableByAll(tmpdir()) ? '/var/tmp' : tmpdir()
  const folder = mkdtempSync(join(base, `jadwal-${purpose}-`))
  chmodSync(folder, 0o755)
  return folder
}

export function removeTempFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
