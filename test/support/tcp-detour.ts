import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface Detour extends AsyncDisposable {
  /** The address that stays the same. */
  readonly port: number
  /** Where connections go from here on. Those that are open stay where they are. */
  target: number
}

/**
 * An address in front of servers, as a name in DNS or a virtual IP is: after a failover new connections
 * reach another server, and those that are open do not notice.
 */
export async function startDetour(target: number): Promise<Detour> {
  const sockets = new Set<Socket>()
  const detour = { target }
  const server = createServer((client) => {
    const upstream = connect(detour.target, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(detour, {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}
