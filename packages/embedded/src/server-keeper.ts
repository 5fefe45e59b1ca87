import { sleep } from '@jadwal/runtime'
import { RestartBackoff } from './restart-backoff.ts'
import type { ServerProcess } from './server-process.ts'
import type { Terminal } from './terminal.ts'

interface Server {
  url: string
  port: number
  server: ServerProcess
  stop(): Promise<void>
}

export interface ServerSpec {
  name: string
  preferredPort: number
  start(port: number): Promise<Server>
}

export interface KeptServer {
  url: string
  stop(): Promise<void>
}

/** Starts a database server, and starts it again at the same address when it dies. */
export async function keepServer(spec: ServerSpec, terminal: Terminal): Promise<KeptServer> {
  const stopping = new AbortController()
  let server = await spec.start(spec.preferredPort)
  const { url, port } = server
  terminal.say(`${spec.name} runs on 127.0.0.1:${port}`)

  const restart = async (): Promise<void> => {
    const again = await spec.start(port)
    if (again.port !== port) {
      await again.stop()
      throw new Error(`port ${port} was taken meanwhile`)
    }
    server = again
    if (stopping.signal.aborted) await again.stop()
  }
  const keepRunning = async (): Promise<void> => {
    const backoff = new RestartBackoff()
    for (;;) {
      const startedAt = performance.now()
      await server.server.exited
      for (let up = false; !up;) {
        if (stopping.signal.aborted) return
        const delayMs = backoff.delayMs(performance.now() - startedAt)
        terminal.say(`${spec.name} ended; it starts again in ${delayMs / 1_000} s`)
        await sleep(delayMs, stopping.signal)
        if (stopping.signal.aborted) return
        up = await restart().then(
          () => true,
          (error: unknown) => {
            terminal.say(`${spec.name} does not start: ${String(error)}`)
            return false
          },
        )
      }
    }
  }
  const running = keepRunning()
  return {
    url,
    async stop() {
      stopping.abort()
      await server.stop()
      await running
    },
  }
}
