import {
  isAlive,
  isIdentity,
  type ProcessIdentity,
  signalProcess,
  stopProcess,
  waitForEnd,
} from './process-identity.ts'
import { parseIfWhole, readIfThere, writeWhole } from './whole-file.ts'

export interface ListedProcess extends ProcessIdentity {
  name: string
}

/** The services that run, in a file, so that the next start finds those that a killed one left behind. */
export class ProcessList {
  readonly #file: string
  readonly #processes = new Map<string, ListedProcess>()

  constructor(file: string) {
    this.#file = file
  }

  add(process: ListedProcess): void {
    this.#processes.set(process.name, process)
    this.#write()
  }

  remove(name: string): void {
    this.#processes.delete(name)
    this.#write()
  }

  #write(): void {
    writeWhole(this.#file, JSON.stringify([...this.#processes.values()]))
  }
}

/** Those of the list that still live. */
export async function findLeftovers(file: string): Promise<ListedProcess[]> {
  const listed = readList(file)
  const living = await Promise.all(listed.map(isAlive))
  return listed.filter((_, index) => living[index])
}

/**
 * Ends what a killed start left behind. A service that lost its supervisor drains by itself: it gets
 * `drainMs` for that, and is then hurried and killed.
 */
export async function endLeftovers(
  leftovers: readonly ListedProcess[],
  drainMs: number,
): Promise<void> {
  await Promise.all(
    leftovers.map(async (leftover) => {
      // One that was stopped (SIGSTOP) could not end.
      await signalProcess(leftover, 'SIGCONT')
      if (!(await waitForEnd(leftover, drainMs))) await stopProcess(leftover, 'SIGTERM', 3_000)
    }),
  )
}

function readList(file: string): ListedProcess[] {
  const listed = parseIfWhole(readIfThere(file) ?? '')
  return Array.isArray(listed) ? (listed.filter(isIdentity) as ListedProcess[]) : []
}
