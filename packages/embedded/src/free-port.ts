import { createServer } from 'node:net'

const HIGHEST_PORT = 65_535

/** A free TCP port of 127.0.0.1: the first one from `preferred` on, or any when it is 0. */
export async function freePort(preferred = 0): Promise<number> {
  if (preferred === 0) return listenOnce(0)
  for (let port = preferred; port <= HIGHEST_PORT; port += 1) {
    const free = await listenOnce(port).catch(() => undefined)
    if (free !== undefined) return free
  }
  throw new Error(`no port from ${preferred} to ${HIGHEST_PORT} is free on 127.0.0.1`)
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      const taken = typeof address === 'object' && address ? address.port : port
      server.close(() => resolve(taken))
    })
  })
}
