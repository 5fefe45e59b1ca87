import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { sleep } from '@jadwal/runtime'
import type { Child, ChildEnd, ChildStart } from './child.ts'
import { type FromChild, isEnvelope } from './messages.ts'

/** What an idle child gets to run its exit handlers. */
const DISMISSED_MS = 2_000
/** What came over its channel and pipes last is read within this time, or is held open by somebody else. */
const LAST_WORDS_MS = 500
const TAIL_LENGTH = 4_096
/** What V8 says last on standard error. */
const ABORTED = 134
const OUT_OF_MEMORY = 'JavaScript heap out of memory'

const running = new Set<ChildProcess>()
let watching = false

export function startProcess({ kind, file, env, listener, onEnd }: ChildStart): Child {
  if (!watching) process.once('exit', killAll)
  watching = true
  const forked = fork(fileURLToPath(file), {
    env: { ...env },
    execArgv: execArgvOf(kind.memoryMb),
    serialization: 'advanced',
    // The fourth is its lifeline, which breaks when this process dies: see child-watch.ts.
    stdio: ['ignore', 'inherit', 'pipe', 'pipe', 'ipc'],
  })
  running.add(forked)
  const child: Child = {
    kind,
    listener,
    made: 0,
    end: undefined,
    // The callback takes the error of a channel that breaks this moment; the child's end is noticed below.
    send: (jadwal) => void (forked.connected && forked.send({ jadwal }, () => undefined)),
    dismiss: () => {
      if (forked.connected) forked.disconnect()
      setTimeout(() => forked.kill('SIGKILL'), DISMISSED_MS).unref()
    },
    kill: () => void forked.kill('SIGKILL'),
  }
  forked.on('message', (message: unknown) => {
    if (isEnvelope<FromChild>(message)) child.listener.said(message.jadwal)
  })
  void (async () => {
    child.end = await endOf(forked, passOn(forked))
    running.delete(forked)
    child.listener.ended(child.end)
    onEnd(child)
  })()
  return child
}

/** Resolves once it is gone and all it said is heard. */
async function endOf(forked: ChildProcess, tail: () => string): Promise<ChildEnd> {
  const closed = new Promise((resolve) => forked.once('close', resolve))
  const end = await new Promise<Omit<ChildEnd, 'outOfMemory'>>((resolve) => {
    forked.once('exit', (code, signal) => resolve({ code, signal }))
    // A kill that is refused is one, too, and not the last.
    forked.on('error', (cause) => {
      if (forked.pid === undefined) resolve({ code: null, signal: null, cause })
    })
  })
  if (forked.pid !== undefined) await Promise.race([closed, sleep(LAST_WORDS_MS)])
  const aborted = end.signal !== null || end.code === ABORTED
  return { ...end, outOfMemory: aborted && tail().includes(OUT_OF_MEMORY) }
}

/** Passes standard error on to this process' own; returns what gives its end. */
function passOn(forked: ChildProcess): () => string {
  let tail = ''
  forked.stderr?.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text)
    tail = (tail + text).slice(-TAIL_LENGTH)
  })
  // What breaks with the child is no error.
  for (const pipe of [forked.stderr, forked.stdio[3]]) pipe?.on('error', () => undefined)
  return () => tail
}

/** Of this process' own; a debugger's port is taken, and the last limit given counts. */
function execArgvOf(memoryMb: number): string[] {
  const own = process.execArgv.filter((arg) => !arg.startsWith('--inspect'))
  return [...own, `--max-old-space-size=${memoryMb}`]
}

/** None is left even for a moment after this process' exit. */
function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}
