import { createServer } from 'node:http'
import express, { type RequestHandler } from 'express'
import type { Registry } from 'prom-client'
import { bearerToken, sameSecret } from './bearer-token.ts'
import { listen, type Listening } from './listen.ts'
import { notReadyReasons, type ReadyCheck } from './readiness.ts'

export interface OpsServerOptions {
  host: string
  port: number
  registry: Registry
  ready: ReadyCheck
  /** Asked for at `/metrics`; without one they are open. */
  metricsToken?: string | undefined
}

/** Serves `/healthz`, `/readyz` and `/metrics` of a service that serves nothing else. */
export async function startOpsServer(options: OpsServerOptions): Promise<Listening> {
  const { host, port, registry, ready, metricsToken } = options
  const app = express().disable('x-powered-by').disable('etag')
  app.get('/healthz', healthz)
  app.get('/readyz', readyz(ready))
  app.get('/metrics', async (req, res) => {
    const token = bearerToken(req.headers.authorization) ?? ''
    if (metricsToken !== undefined && !sameSecret(token, metricsToken)) {
      res.status(401).set('WWW-Authenticate', 'Bearer').type('text/plain').send('unauthorized\n')
      return
    }
    res.set('Content-Type', registry.contentType).send(await registry.metrics())
  })
  app.use((_req, res) => void res.status(404).type('text/plain').send('not found\n'))
  return listen(createServer(app), { host, port, closeMs: 1_000 })
}

/** The process lives: always 200. */
export const healthz: RequestHandler = (_req, res) => {
  res.json({ status: 'alive' })
}

/** 200, or 503 with the reasons why the service cannot do its work. */
export function readyz(check: ReadyCheck): RequestHandler {
  return async (_req, res) => {
    const reasons = await notReadyReasons(check)
    if (reasons.length === 0) res.json({ status: 'ready' })
    else res.status(503).json({ status: 'not ready', reasons })
  }
}
