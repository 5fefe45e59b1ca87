import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { type ProcessIdentity, identifyProcess } from './process-identity.ts'

const LONG_LOG_BYTES = 10 * 1024 * 1024

export interface ServerCommand {
  file: string
  args: readonly string[]
  /** Standard output and error are appended to this file. */
  logFile: string
  cwd?: string
  env?: NodeJS.ProcessEnv
  user?: { uid: number; gid: number } | undefined
}

/** A database server that runs as our child, in a process group of its own. */
export interface ServerProcess {
  identity: ProcessIdentity
  child: ChildProcess
  /** Settles when the process has ended, whoever ended it. */
  exited: Promise<void>
  /** Throws with the end of the log when the process has ended. */
  assertRunning(): void
}

/** Spawns a server. Throws when the program cannot be run at all. */
export async function spawnServer(command: ServerCommand): Promise<ServerProcess> {
  setAsideLongLog(command.logFile)
  const log = openSync(command.logFile, 'a', 0o600)
  const child = spawn(command.file, command.args, {
    detached: true,
    stdio: ['ignore', log, log],
    ...(command.cwd ? { cwd: command.cwd } : {}),
    ...(command.env ? { env: command.env } : {}),
    ...command.user,
  })
  closeSync(log)
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  const pid = child.pid ?? 0
  const identity = (await identifyProcess(pid)) ?? { pid, startedAt: 'ended' }
  return {
    identity,
    child,
    exited,
    assertRunning() {
      if (child.exitCode === null && child.signalCode === null) return
      throw new Error(`${command.file} ended at its start: ${logTail(command.logFile)}`)
    },
  }
}

function setAsideLongLog(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > LONG_LOG_BYTES) renameSync(file, `${file}.old`)
}

/** The last lines of a server's log. */
function logTail(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n')
}
