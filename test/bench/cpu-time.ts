import { readdirSync, readFileSync } from 'node:fs'

/** USER_HZ: a constant of Linux' interface, whatever the kernel's own clock is. */
const TICKS_PER_SECOND = 100

/** Seconds of CPU time that a process, its children and those that have ended have used. */
export function cpuSeconds(pid: number): number {
  const all = readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined
    return stat ? [stat] : []
  })
  const ticks = all
    .filter((stat) => stat.pid === pid || stat.parent === pid)
    .reduce((sum, stat) => sum + stat.own + (stat.pid === pid ? stat.ofEnded : 0), 0)
  return ticks / TICKS_PER_SECOND
}

/** The parent of a process. */
export function parentOf(pid: number): number {
  return readStat(pid)?.parent ?? 0
}

/** What a process has in memory, in MiB. */
export function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib ?? 0) / 1024
}

interface Stat {
  pid: number
  parent: number
  own: number
  ofEnded: number
}

function readStat(pid: number): Stat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The name in brackets may contain anything; what is meant begins after it, with field 3.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const field = (number: number): number => Number(fields[number - 3])
  return {
    pid,
    parent: field(4),
    own: field(14) + field(15),
    ofEnded: field(16) + field(17),
  }
}
