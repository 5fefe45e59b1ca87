import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { parseIfWhole } from './whole-file.ts'

/** A process, and not another one that later got the same pid. */
export interface ProcessIdentity {
  pid: number
  /** When it started, as the system writes it: comparable, not readable. */
  startedAt: string
}

/** The identity of a living process; undefined when there is none with this pid, or only a zombie. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  const startedAt =
    process.platform === 'linux' ? await startedAtInProc(pid) : await startedAtInPs(pid)
  return startedAt === undefined ? undefined : { pid, startedAt }
}

/** The identity in a file's text; undefined when the text is damaged. */
export function parseIdentity(text: string): ProcessIdentity | undefined {
  const parsed = parseIfWhole(text)
  return isIdentity(parsed) ? parsed : undefined
}

/** Whether what a file held is an identity. */
export function isIdentity(parsed: unknown): parsed is ProcessIdentity {
  if (typeof parsed !== 'object' || parsed === null) return false
  const { pid, startedAt } = parsed as Partial<ProcessIdentity>
  return Number.isInteger(pid) && Number(pid) > 0 && typeof startedAt === 'string'
}

/** Whether this very process lives. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await identifyProcess(identity.pid))?.startedAt === identity.startedAt
}

/** Sends a signal if this very process lives; `false` when it was gone. */
export async function signalProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
): Promise<boolean> {
  if (!(await isAlive(identity))) return false
  try {
    process.kill(identity.pid, signal)
    return true
  } catch {
    return false
  }
}

/** Waits until the process is gone, at most `timeoutMs`; `false` when it still lives. */
export async function waitForEnd(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (await isAlive(identity)) {
    if (performance.now() > deadline) return false
    await delay(50)
  }
  return true
}

/** Signals the process, waits, and kills it when it does not end within `timeoutMs`. */
export async function stopProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  timeoutMs: number,
): Promise<void> {
  if (!(await signalProcess(identity, signal))) return
  if (await waitForEnd(identity, timeoutMs)) return
  await signalProcess(identity, 'SIGKILL')
  await waitForEnd(identity, 5_000)
}

async function startedAtInProc(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The name in the second field may hold spaces and parentheses: count from its end.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields?.[0] === 'Z' ? undefined : fields?.[19]
}

async function startedAtInPs(pid: number): Promise<string | undefined> {
  const ps = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(
    () => undefined,
  )
  return ps?.stdout.trim() || undefined
}
