import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UnavailableError } from './unavailable-error.ts'

export interface Listening {
  /** The port that was taken, also where 0 was asked for. */
  port: number
  close: () => Promise<void>
}

export interface ListenOptions {
  host: string
  port: number
  /** How long requests under way may take at `close` before they are cut; default 5 s. */
  closeMs?: number
}

/** Opens the port. Throws `UnavailableError` when it cannot be had. */
export async function listen(
  server: Server,
  { host, port, closeMs = 5_000 }: ListenOptions,
): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  }).catch((error: unknown) => {
    throw new UnavailableError({
      what: `Port ${port}`,
      variable: 'JADWAL_PORT',
      address: `${host}:${port}`,
      cause: error,
      waysOut:
        'set JADWAL_PORT to a free port (0 takes any) or JADWAL_HOST to an address of this machine',
    })
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => closeServer(server, closeMs),
  }
}

async function closeServer(server: Server, closeMs: number): Promise<void> {
  const cut = setTimeout(() => server.closeAllConnections(), closeMs)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
  clearTimeout(cut)
}
