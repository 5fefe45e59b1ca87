import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import { killAtExit } from './kill-at-exit.ts'
import { PROJECT_ROOT } from './project-root.ts'

export type ServiceName = 'scheduler' | 'worker' | 'recorder' | 'api'

export interface ServiceProcess extends AsyncDisposable {
  readonly child: ChildProcess
  readonly pid: number
  /** Of its health pages (of the api: of the api). Throws until it is ready. */
  readonly port: number
  /** Resolves with the port; rejects with the logs when it ends before it is ready. */
  readonly ready: Promise<number>
  /** Lines of standard output and error so far. */
  readonly logs: readonly string[]
  /** Resolves when it has ended; -1 when a signal ended it. */
  exitCode(): Promise<number>
  /** SIGTERM, then waits for its end. */
  stop(): Promise<number>
  /** SIGKILL, then waits for its end. */
  kill(): Promise<void>
  /** Freezes it (SIGSTOP) and lets it go on (SIGCONT). */
  pause(): void
  resume(): void
  /** The first line, already there or to come, that contains `part` or matches it. */
  waitForLog(part: string | RegExp, timeoutMs?: number): Promise<string>
}

/**
 * Runs `services/<name>/dist/main.js` as a process of its own, in nothing but the given environment,
 * a free port and 127.0.0.1. It needs `REDIS_URL`, and all but the worker `DATABASE_URL`.
 */
export function spawnService(
  name: ServiceName,
  env: Readonly<Record<string, string>>,
): ServiceProcess {
  return spawnMain(join(PROJECT_ROOT, 'services', name, 'dist', 'main.js'), {
    JADWAL_HOST: '127.0.0.1',
    JADWAL_PORT: '0',
    JADWAL_LOG_LEVEL: 'debug',
    ...env,
  })
}

/** Like `spawnService`, for any bundled program; `args` follow the file. */
export function spawnMain(
  file: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): ServiceProcess {
  const child = spawn(process.execPath, ['--enable-source-maps', file, ...args], {
    cwd: PROJECT_ROOT,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TZ: 'UTC', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  killAtExit(child)
  const logs: string[] = []
  for (const stream of [child.stdout, child.stderr]) collectLines(stream, logs)
  const ended = new Promise<number>((resolve) => {
    child.once('close', (code) => resolve(code ?? -1))
  })
  let port: number | undefined
  const ready = new Promise<number>((resolve, reject) => {
    child.on('message', (message: { type?: string; port?: number }) => {
      if (message.type !== 'ready') return
      port = message.port ?? 0
      resolve(port)
    })
    void ended.then((code) => reject(new Error(`${file} ended with ${code}:\n${logs.join('\n')}`)))
  })
  // Whoever only waits for the exit code never looks at it.
  ready.catch(() => {})
  const end = async (signal: NodeJS.Signals): Promise<number> => {
    child.kill(signal)
    return ended
  }
  return {
    child,
    pid: child.pid ?? 0,
    ready,
    logs,
    get port() {
      if (port === undefined) throw new Error(`${file} is not ready yet`)
      return port
    },
    exitCode: () => ended,
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    waitForLog: (part, timeoutMs = 30_000) => eventually(() => findLine(logs, part), { timeoutMs }),
    async [Symbol.asyncDispose]() {
      await end('SIGKILL')
    },
  }
}

function findLine(logs: readonly string[], part: string | RegExp): string {
  const line = logs.find((each) =>
    typeof part === 'string' ? each.includes(part) : part.test(each),
  )
  if (line === undefined) throw new Error(`no line with ${part} in:\n${logs.slice(-30).join('\n')}`)
  return line
}

function collectLines(stream: NodeJS.ReadableStream | null, lines: string[]): void {
  let rest = ''
  stream?.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
  })
}
