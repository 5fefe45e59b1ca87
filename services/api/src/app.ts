import { healthz, readyz } from '@jadwal/runtime'
import compression from 'compression'
import express, { type Express, type RequestHandler } from 'express'
import { createAccess } from './access.ts'
import type { Admission, ApiDeps } from './api-deps.ts'
import { apiEndpoints } from './api-endpoints.ts'
import { authenticate } from './authenticate.ts'
import { BOARD_PATH } from './bull-board.ts'
import { requireRole } from './caller.ts'
import { errorHandler } from './error-handler.ts'
import { limitTime, TIME_LIMITS } from './limit-time.ts'
import { loginRoutes } from './login.ts'
import { pageEndpoints } from './page-endpoints.ts'
import { Problem } from './problem.ts'
import { basePathOf, servePublicPath } from './public-path.ts'
import { requestLog } from './request-log.ts'
import { securityHeaders } from './security-headers.ts'

/** Everything that the api serves. What is above `authenticate` is open, what is below is not. */
export function createApp(deps: ApiDeps, admission: Admission): Express {
  const app = express()
  app.disable('x-powered-by').disable('etag')
  app.set('trust proxy', admission.trustedProxies)
  app.use(servePublicPath(basePathOf(deps.publicUrl)))
  app.use(requestLog(deps.log), securityHeaders(), compression())
  app.use(limitTime(TIME_LIMITS))
  app.get('/healthz', healthz)
  app.get('/readyz', readyz(deps.ready))
  const access = createAccess(deps, admission)
  app.use(noStore, loginRoutes(access))
  app.use(authenticate(access))

  const pages = pageEndpoints(deps, admission)
  app.use(pages.router)
  app.use(BOARD_PATH, requireRole('viewer'), deps.board(deps))
  app.use('/api/v1', apiEndpoints(deps).router)

  app.use((req) => {
    throw new Problem('not-found', { detail: `There is nothing at ${req.path}.` })
  })
  app.use(errorHandler(deps.log))
  return app
}

/** What is answered is of this moment, and for whoever has the token. */
const noStore: RequestHandler = (_req, res, next) => {
  res.set('Cache-Control', 'no-store')
  next()
}
