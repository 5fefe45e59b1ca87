import { once } from 'node:events'
import { createServer, request as nodeRequest } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface PathProxy extends AsyncDisposable {
  /** The address that people open: ends in `/`. */
  publicUrl: string
  /** Where it passes on to: an address without a path. */
  target: string
  /** Requests that were not below its path: they would have reached somebody else. */
  strays: string[]
}

/** A proxy that serves one path, and passes that path on or takes it off. With `ownHost`, it puts the host of its target in place of its own. */
export async function startPathProxy(
  path: string,
  { takesOff, ownHost }: { takesOff: boolean; ownHost: boolean },
): Promise<PathProxy> {
  const strays: string[] = []
  const server = createServer((req, res) => {
    const url = req.url ?? ''
    // Of what is no page, such as JSON, browsers ask the host for it by themselves.
    if (url === '/favicon.ico') return void res.writeHead(204).end()
    if (!url.startsWith(`${path}/`)) {
      strays.push(url)
      res.writeHead(404).end()
      return
    }
    const { hostname, port, host } = new URL(proxy.target)
    const headers = { ...req.headers, ...(ownHost ? { host } : {}) }
    const inner = takesOff ? url.slice(path.length) : url
    const onward = nodeRequest({ hostname, port, method: req.method, path: inner, headers })
    onward.on('response', (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    onward.on('error', () => res.destroy())
    req.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const proxy: PathProxy = {
    publicUrl: `http://localhost:${port}${path}/`,
    target: '',
    strays,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
