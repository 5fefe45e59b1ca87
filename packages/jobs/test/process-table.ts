import { readdirSync, readFileSync } from 'node:fs'

interface Process {
  pid: number
  /** `Z`: a zombie. */
  state: string
  parent: number
  group: number
  command: string
}

/** Every process of the machine, zombies included, from /proc. */
export function processTable(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readProcess(Number(pid)))
}

function readProcess(pid: number): Process[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold spaces and parentheses itself.
    const [state = '', parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\u0000', ' ')
    return [{ pid, state, parent: Number(parent), group: Number(group), command }]
  } catch {
    return [] // It has ended meanwhile.
  }
}
