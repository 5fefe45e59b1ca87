import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy extends AsyncDisposable {
  /** The same address, by way of the proxy. */
  wayTo: (url: string) => string
  /** Connections end, and no new one is taken. */
  cut: () => void
  /** Connections stay, and nothing goes through them. */
  freeze: () => void
  resume: () => void
}

/** Stands before a server, to take it away without stopping it. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let mode: 'open' | 'cut' | 'frozen' = 'open'
  const server = createServer((near) => {
    if (mode === 'cut') return void near.destroy()
    const far = connect(Number(port), hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.on('data', (chunk) => void (mode === 'open' && other.write(chunk)))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    mode = 'cut'
    for (const socket of sockets) socket.destroy()
  }
  return {
    wayTo: (url) => {
      const way = new URL(url)
      way.hostname = '127.0.0.1'
      way.port = String((server.address() as AddressInfo).port)
      return way.href
    },
    cut,
    freeze: () => {
      mode = 'frozen'
    },
    resume: () => {
      mode = 'open'
    },
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
