import type { Child, ChildKind, ChildListener, ChildStart } from './child.ts'
import { notStarted, sayEnd } from './child-error.ts'
import { startProcess } from './process-child.ts'
import { receivedThrown } from './sent-error.ts'
import { startThread } from './thread-child.ts'

export interface StartOptions extends Omit<ChildStart, 'listener'> {
  withinMs: number
  /** It lives, but is not ready yet. */
  onStart: (child: Child) => void
}

/** Starts a child and waits until it has loaded its jobs. Rejects with a `ChildError`. */
export function startChild({ withinMs, onStart, ...start }: StartOptions): Promise<Child> {
  const { kind } = start
  return new Promise((resolve, reject) => {
    const fail = (problem: string, cause?: unknown): void => {
      clearTimeout(timer)
      reject(notStarted(kind, { problem, cause }))
    }
    const listener: ChildListener = {
      said: (message) => {
        if (message.type === 'ready') {
          clearTimeout(timer)
          if (child) resolve(child)
        } else if (message.type === 'failed' || message.type === 'crashed') {
          const cause = receivedThrown(message.error)
          fail(cause instanceof Error ? cause.message : String(cause), cause)
        }
      },
      ended: (end) => fail(`it ${sayEnd(kind, end)}`, end.cause),
    }
    const timer = setTimeout(() => {
      fail(`it was not ready within ${withinMs} ms`)
      child?.kill()
    }, withinMs)
    let child: Child | undefined
    try {
      child = open(kind, { ...start, listener })
      onStart(child)
    } catch (cause) {
      fail(cause instanceof Error ? cause.message : String(cause), cause)
    }
  })
}

function open({ isolate }: ChildKind, start: ChildStart): Child {
  return isolate === 'thread' ? startThread(start) : startProcess(start)
}
