import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { BINARY } from './jadwal.ts'

export const CASES = fileURLToPath(new URL('cases/', import.meta.url))

export interface Ended {
  exitCode: number | null
  output: string
  report: string
}

/** Runs the built command as a process of its own, in the folder of the cases and the zone Asia/Jakarta. */
export async function runCli(args: string[], input = ''): Promise<Ended> {
  return await runNode([BINARY, ...args], input)
}

/** The same, but nobody reads what it writes to standard output. */
export async function runUnread(args: string[], input: string): Promise<Ended> {
  return await runNode([BINARY, ...args], input, { unread: true })
}

export async function runNode(args: string[], input = '', { unread = false } = {}): Promise<Ended> {
  const child = spawn(process.execPath, args, {
    cwd: CASES,
    env: { TZ: 'Asia/Jakarta' },
  })
  if (unread) child.stdout.destroy()
  child.stdin.end(input)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [output, report, exitCode] = await Promise.all([
    unread ? '' : text(child.stdout),
    text(child.stderr),
    ended,
  ])
  return { exitCode, output, report }
}
