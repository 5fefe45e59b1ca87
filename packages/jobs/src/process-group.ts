import { setTimeout as wait } from 'node:timers/promises'

/**
 * A command and all it has started, as one process group: the command is spawned `detached`, so its
 * pid is the group's id. Signals go to the group, so that no grandchild outlives the attempt.
 */

/** How long a group may take to end after SIGTERM before SIGKILL, in ms. */
const TERM_GRACE_MS = 2_000
/** After SIGKILL only zombies can be left, and only where pid 1 does not reap them. */
const KILL_GRACE_MS = 1_000
const POLL_MS = 20

/** Groups to take along when the process exits without an abort, as after an uncaught exception. */
const running = new Set<number>()
let listening = false

/**
 * Waits for `exited`, the end of the group's leader, then ends what is left of the group. An abort
 * ends the whole group: SIGTERM, and SIGKILL to what is left after the grace. When this has settled,
 * the group is gone.
 */
export async function untilGroupEnds<T>(
  pid: number,
  exited: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const abort = (): void => void endGroup(pid)
  takeAlongAtExit(pid)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    const end = await exited
    await endGroup(pid)
    return end
  } finally {
    signal.removeEventListener('abort', abort)
    running.delete(pid)
  }
}

function takeAlongAtExit(pid: number): void {
  if (!listening) process.once('exit', killAll)
  listening = true
  running.add(pid)
}

async function endGroup(pid: number): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM')) return
  if (await goneWithin(pid, TERM_GRACE_MS)) return
  signalGroup(pid, 'SIGKILL')
  await goneWithin(pid, KILL_GRACE_MS)
}

async function goneWithin(pid: number, ms: number): Promise<boolean> {
  for (let waited = 0; waited < ms; waited += POLL_MS) {
    if (!signalGroup(pid, 0)) return true
    await wait(POLL_MS)
  }
  return !signalGroup(pid, 0)
}

/** False when the group is gone. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch (error) {
    // EPERM: a member runs as somebody else now (setuid); it is there, but out of reach.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function killAll(): void {
  for (const pid of running) signalGroup(pid, 'SIGKILL')
}
