import { Worker } from 'node:worker_threads'
import type { Child, ChildStart } from './child.ts'
import { type FromChild, isEnvelope } from './messages.ts'

/** Threads that were told to end and have not. */
const stuck = new Set<Worker>()
let watching = false

/** Throws when there can be no further thread. */
export function startThread({ kind, file, env, listener, onEnd }: ChildStart): Child {
  if (!watching) process.once('exit', exitWithoutStuck)
  watching = true
  const worker = new Worker(file, {
    env: { ...env },
    resourceLimits: { maxOldGenerationSizeMb: kind.memoryMb },
  })
  let uncaught: unknown
  const terminate = (): void => {
    stuck.add(worker)
    void worker.terminate()
  }
  const child: Child = {
    kind,
    listener,
    made: 0,
    end: undefined,
    send: (jadwal) => worker.postMessage({ jadwal }),
    dismiss: terminate,
    kill: terminate,
  }
  worker.on('message', (message: unknown) => {
    if (isEnvelope<FromChild>(message)) child.listener.said(message.jadwal)
  })
  worker.on('error', (error) => {
    uncaught = error
  })
  worker.once('exit', (code) => {
    stuck.delete(worker)
    const outOfMemory = codeOf(uncaught) === 'ERR_WORKER_OUT_OF_MEMORY'
    child.end = {
      code,
      signal: null,
      outOfMemory,
      ...(uncaught === undefined || outOfMemory ? {} : { cause: uncaught }),
    }
    child.listener.ended(child.end)
    onEnd(child)
  })
  return child
}

/** A thread ends only once the system call that it is in has, and an exit would wait for that. */
function exitWithoutStuck(): void {
  if (stuck.size > 0) process.kill(process.pid, 'SIGKILL')
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
