import { spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { OutputTail } from './output-tail.ts'
import { untilGroupEnds } from './process-group.ts'

export interface Command {
  file: string
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  stdin: string
}

interface Exit {
  /** Null when a signal ended the command. */
  exitCode: number | null
  signal: NodeJS.Signals | null
}

export interface CommandEnd extends Exit {
  /** The end of stdout and stderr, as they came. */
  output: string
  truncated: boolean
}

const OUTPUT_BYTES = 64 * 1024
/** How long the pipes may stay open when the group is gone: a process that left it may hold them. */
const PIPES_GRACE_MS = 500

/**
 * Runs a command to its end, or ends it when the signal aborts. Either way nothing of its process
 * group is left when this resolves: what a command leaves running in the background ends with it.
 * Rejects when it can't be started.
 */
export async function runCommand(command: Command, signal: AbortSignal): Promise<CommandEnd> {
  const child = spawn(command.file, command.args, {
    cwd: command.cwd,
    env: command.env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const exited = new Promise<Exit>((resolve, reject) => {
    child.on('exit', (exitCode, exitSignal) => resolve({ exitCode, signal: exitSignal }))
    child.on('error', reject)
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  // Without pids or file handles left there are no pipes either, only the error that `exited` brings.
  if (child.pid === undefined) return { ...(await exited), output: '', truncated: false }
  const tail = new OutputTail(OUTPUT_BYTES)
  child.stdout.on('data', (chunk: Buffer) => tail.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => tail.push(chunk))
  // A command need not read its input: then the pipe breaks, which is no error.
  child.stdin.on('error', () => {})
  child.stdin.end(command.stdin)
  const end = await untilGroupEnds(child.pid, exited, signal)
  await Promise.race([closed, wait(PIPES_GRACE_MS, undefined, { ref: false })])
  child.stdout.destroy()
  child.stderr.destroy()
  return { ...end, output: tail.text(), truncated: tail.truncated }
}
