import { randomBytes } from 'node:crypto'
import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { identifyProcess, isAlive, parseIdentity } from './process-identity.ts'
import { findHolder } from './process-search.ts'
import { writeWhole } from './whole-file.ts'

/** Another `npm start` runs on this data folder. */
export class AlreadyRunningError extends Error {
  override name = 'AlreadyRunningError'
  readonly code = 'ALREADY_RUNNING'
  readonly pid: number
  /** It is about to end. */
  readonly stopping: boolean

  constructor(pid: number, stopping: boolean) {
    super(`process ${pid} runs on this data folder`)
    this.pid = pid
    this.stopping = stopping
  }
}

export interface StartLock {
  /** Lets others know that it is worth waiting. */
  markStopping(): void
  release(): void
}

/**
 * Takes the data folder for this process. The lock of a process that is gone counts for nothing.
 * Throws `AlreadyRunningError`.
 */
export async function takeStartLock(file: string): Promise<StartLock> {
  const self = await identifyProcess(process.pid)
  const text = JSON.stringify(self)
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, text, { mode: 0o600 })
  // Open for as long as the lock is held: so its holder is found even when what it wrote is damaged.
  const held = openSync(draft, 'r')
  try {
    // A link either appears whole or fails, where a file could be read half written.
    while (!linked(draft, file)) await removeStale(file)
  } catch (error) {
    closeSync(held)
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
  rmSync(stoppingFile(file), { force: true })
  return {
    markStopping: () => writeWhole(stoppingFile(file), text),
    release() {
      closeSync(held)
      // The lock first: without its mark it would be that of one that goes on.
      for (const each of [file, stoppingFile(file)])
        if (read(each) === text) rmSync(each, { force: true })
    },
  }
}

function stoppingFile(file: string): string {
  return `${file}.stopping`
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function removeStale(file: string): Promise<void> {
  const text = read(file)
  if (text === undefined) return
  const holder = parseIdentity(text)
  const isHeld = holder !== undefined && (await isAlive(holder))
  const pid = isHeld ? holder.pid : holder ? undefined : findHolder(file)
  if (pid !== undefined) {
    const mark = read(stoppingFile(file))
    // It may have been given back meanwhile, with its mark.
    if (read(file) !== text) return
    throw new AlreadyRunningError(pid, isHeld ? mark === text : mark !== undefined)
  }
  const aside = `${file}.${randomBytes(4).toString('hex')}`
  try {
    renameSync(file, aside)
  } catch {
    return
  }
  // Somebody may have removed the stale one and taken the lock since it was read: then put that back.
  if (read(aside) !== text) linked(aside, file)
  rmSync(aside, { force: true })
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
