import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const HIGHEST_PORT = 65_535
const START_TRIES = 5
/** Below those that systems give to outgoing connections, so that none of these takes a port before it is used. */
const ANY = { from: 20_000, to: 30_000, tries: 50 }

/** A free TCP port: the first one from `preferred` on, or any when that is 0. */
export async function freePort(preferred = 0, host = '127.0.0.1'): Promise<number> {
  if (preferred === 0) return anyFreePort(host)
  for (let port = preferred; port <= HIGHEST_PORT; port += 1) {
    const free = await listenOnce(port, host).catch(ifTaken)
    if (free !== undefined) return free
  }
  throw new Error(`no port from ${preferred} to ${HIGHEST_PORT} is free on ${host}`)
}

async function anyFreePort(host: string): Promise<number> {
  for (let tries = 0; tries < ANY.tries; tries += 1) {
    const free = await listenOnce(randomInt(ANY.from, ANY.to), host).catch(ifTaken)
    if (free !== undefined) return free
  }
  return listenOnce(0, host)
}

/** Starts something on a free port; on another one when somebody else was faster. */
export async function onFreePort<T>(
  preferred: number,
  start: (port: number) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort(preferred)
    try {
      return await start(port)
    } catch (error) {
      const taken =
        error instanceof Error && /address already in use|EADDRINUSE/i.test(error.message)
      if (!taken || tries === START_TRIES) throw error
    }
  }
}

function ifTaken(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error
}

function listenOnce(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address()
      const taken = typeof address === 'object' && address ? address.port : port
      server.close(() => resolve(taken))
    })
  })
}
