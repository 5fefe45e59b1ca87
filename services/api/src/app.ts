import { healthz, readyz } from '@jadwal/runtime'
import compression from 'compression'
import express, { type Express, type RequestHandler, Router } from 'express'
import type { Admission, ApiDeps } from './api-deps.ts'
import { authenticate } from './authenticate.ts'
import { addBackfillRoutes } from './backfill-routes.ts'
import { BOARD_PATH } from './bull-board.ts'
import { addCronPreviewRoute } from './cron-preview-route.ts'
import { addDeadLetterRoutes } from './dead-letter-routes.ts'
import { endpoint } from './endpoint.ts'
import { errorHandler } from './error-handler.ts'
import { addLeaderRoutes } from './leader-routes.ts'
import { limitFailures } from './limit-failures.ts'
import { addLoadRoutes } from './load-routes.ts'
import { loginRoutes } from './login.ts'
import { pageHandler } from './page.ts'
import { Problem } from './problem.ts'
import { addReadRoutes } from './read-routes.ts'
import { addRedriveRoutes } from './redrive-routes.ts'
import { requestLog } from './request-log.ts'
import { addRetryRoute } from './retry-route.ts'
import { addRunsRoutes } from './runs-routes.ts'
import { addScheduleChangesRoutes } from './schedule-changes-routes.ts'
import { addScheduleActsRoutes } from './schedule-acts-routes.ts'
import { addScheduleTicksRoutes } from './schedule-ticks-routes.ts'
import { securityHeaders } from './security-headers.ts'

/** Everything that the api serves. What is above `authenticate` is open, what is below is not. */
export function createApp(deps: ApiDeps, admission: Admission): Express {
  const app = express()
  app.disable('x-powered-by').disable('etag')
  app.set('trust proxy', 'loopback, linklocal, uniquelocal')
  app.use(requestLog(deps.log), securityHeaders(), compression())
  app.get('/healthz', healthz)
  app.get('/readyz', readyz(deps.ready))
  const limit = limitFailures()
  app.use(noStore, loginRoutes(admission, deps.clock, limit))
  app.use(authenticate(admission, deps.clock, limit))

  endpoint(app, '/', { get: pageHandler(deps, admission.adminToken !== undefined) })
  endpoint(app, '/metrics', {
    get: async (_req, res) => {
      const { text, contentType } = await deps.metrics()
      res.set('Content-Type', contentType).send(text)
    },
  })
  app.use(BOARD_PATH, deps.board)
  const api = Router()
  addRunsRoutes(api, deps)
  addRetryRoute(api, deps)
  addDeadLetterRoutes(api, deps)
  addRedriveRoutes(api, deps)
  addReadRoutes(api, deps)
  addBackfillRoutes(api, deps)
  addLeaderRoutes(api, deps)
  addScheduleActsRoutes(api, deps)
  addLoadRoutes(api, deps)
  addScheduleTicksRoutes(api, deps)
  addCronPreviewRoute(api, deps)
  addScheduleChangesRoutes(api, deps)
  app.use('/api/v1', api)

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
