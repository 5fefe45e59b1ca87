import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Postgres refuses to run as root; as root it is run as nobody. No user has to be created. */
const NOBODY = { uid: 65_534, gid: 65_534 }

/** The user that a server which refuses root has to run as; undefined: as we are. */
export function unprivilegedUser(): { uid: number; gid: number } | undefined {
  return process.getuid?.() === 0 ? NOBODY : undefined
}

/** Whether any user may pass through every folder down to this one (which need not exist). */
export function isReachableByAll(folder: string): boolean {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(at) && (statSync(at).mode & 0o001) === 0) return false
    if (at === dirname(at)) return true
  }
}

/**
 * A folder of root's own that everybody can reach, in the place of `folder`, which others can't enter
 * (such as one under /root). Always the same for the same folder.
 */
export function reachableFolder(folder: string): string {
  const base = existsSync('/var/lib') ? '/var/lib/jadwal' : '/var/tmp/jadwal-root'
  return join(base, createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 16))
}
