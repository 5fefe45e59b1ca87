import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The process that holds this very file open, if any. Looks only on Linux. */
export function findHolder(file: string): number | undefined {
  const sought = statSync(file, { throwIfNoEntry: false })
  if (!sought) return undefined
  return pids().find((pid) => {
    const folder = `/proc/${pid}/fd`
    return orElse([], () => readdirSync(folder)).some((descriptor) => {
      const found = orElse(undefined, () => statSync(join(folder, descriptor)))
      return found?.ino === sought.ino && found.dev === sought.dev
    })
  })
}

/** The processes of these programs whose working folder is `folder`. Looks only on Linux. */
export function findRunningIn(folder: string, programs: readonly string[]): number[] {
  const place = realpathSync(folder)
  return pids().filter((pid) => {
    if (orElse('', () => readlinkSync(`/proc/${pid}/cwd`)) !== place) return false
    return programs.includes(orElse('', () => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()))
  })
}

function pids(): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}

/** A process may end, or belong to somebody else, while it is looked at. */
function orElse<T>(otherwise: T, look: () => T): T {
  try {
    return look()
  } catch {
    return otherwise
  }
}
