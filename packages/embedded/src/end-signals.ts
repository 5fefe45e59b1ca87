import { readFileSync } from 'node:fs'

/** A terminal's Ctrl-C comes twice within milliseconds: from the terminal, and passed on by npm. */
const SAME_PRESS_MS = 300
const PARENT_CHECK_MS = 500

export interface EndSignals {
  /** Aborts at the first Ctrl-C, SIGTERM or SIGHUP. */
  stop: AbortSignal
  /** Aborts at the second one. */
  hurry: AbortSignal
  /** Stops for a reason of our own. */
  requestStop(): void
}

/**
 * Listens for all that ends `npm start`. With `watchParent`, the end of npm counts too: it cannot pass
 * on the SIGKILL that ended it, and nobody would be left to stop us.
 */
export function listenForEnd(options: { watchParent: boolean; onHurry: () => void }): EndSignals {
  const stop = new AbortController()
  const hurry = new AbortController()
  let lastAskedAt = Number.NEGATIVE_INFINITY
  const asked = (): void => {
    const now = performance.now()
    if (now - lastAskedAt < SAME_PRESS_MS) return
    lastAskedAt = now
    if (!stop.signal.aborted) {
      stop.abort()
    } else if (!hurry.signal.aborted) {
      options.onHurry()
      hurry.abort()
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, asked)
  if (options.watchParent) onParentGone(() => stop.abort())
  return { stop: stop.signal, hurry: hurry.signal, requestStop: () => stop.abort() }
}

/** npm runs us through a shell, which outlives it: the one above the parent is watched as well. */
function onParentGone(callback: () => void): void {
  const before = ancestors()
  const timer = setInterval(() => {
    if (ancestors() === before) return
    clearInterval(timer)
    callback()
  }, PARENT_CHECK_MS)
  timer.unref()
}

function ancestors(): string {
  return `${process.ppid} ${parentOf(process.ppid) ?? 'unknown'}`
}

function parentOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
  } catch {
    return undefined
  }
}
