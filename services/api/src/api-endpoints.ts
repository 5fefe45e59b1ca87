import { addAlertsRoutes } from './alerts/alerts-routes.ts'
import type { ApiDeps } from './api-deps.ts'
import { addAuditRoutes } from './audit-routes.ts'
import { addBackfillRoutes } from './backfill-routes.ts'
import { addCatalogueRoutes } from './catalogue-routes.ts'
import { addCronPreviewRoute } from './cron-preview-route.ts'
import { addDeadLetterRoutes } from './dead-letter-routes.ts'
import { addEventsRoutes } from './events-routes.ts'
import { addExplainRoute } from './explain-route.ts'
import { addLeaderRoutes } from './leader-routes.ts'
import { addLoadRoutes } from './load-routes.ts'
import { addDoctorRoute } from './doctor-route.ts'
import { addLocksRoutes } from './locks-routes.ts'
import { addOpenapiRoute } from './openapi-route.ts'
import { addQueuesRoutes } from './queues-routes.ts'
import { addMeRoute } from './me-route.ts'
import { addRedriveRoutes } from './redrive-routes.ts'
import { addRetryRoute } from './retry-route.ts'
import { addRunsRoutes } from './runs-routes.ts'
import { addScheduleChangesRoutes } from './schedule-changes-routes.ts'
import { addScheduleTicksRoutes } from './schedule-ticks-routes.ts'
import { addStatsRoutes } from './stats-routes.ts'
import { addTokensRoutes } from './tokens-routes.ts'
import { addTriggerRoute } from './trigger-route.ts'
import { Endpoints } from './endpoints.ts'

/** Everything below `/api/v1`. Where two paths fit a request, the one that stands first serves it. */
export function apiEndpoints(deps: ApiDeps): Endpoints {
  const endpoints = new Endpoints(deps.audit)
  addRunsRoutes(endpoints, deps)
  addRetryRoute(endpoints, deps)
  addExplainRoute(endpoints, deps)
  addDeadLetterRoutes(endpoints, deps)
  addRedriveRoutes(endpoints, deps)
  addCatalogueRoutes(endpoints, deps)
  addQueuesRoutes(endpoints, deps)
  addBackfillRoutes(endpoints, deps)
  addLeaderRoutes(endpoints, deps)
  addStatsRoutes(endpoints, deps)
  addEventsRoutes(endpoints, deps)
  addTriggerRoute(endpoints, deps)
  addLoadRoutes(endpoints, deps)
  addAlertsRoutes(endpoints, deps)
  addLocksRoutes(endpoints, deps)
  addDoctorRoute(endpoints, deps)
  addMeRoute(endpoints)
  addTokensRoutes(endpoints, deps)
  addAuditRoutes(endpoints, deps)
  addScheduleTicksRoutes(endpoints, deps)
  addCronPreviewRoute(endpoints, deps)
  addScheduleChangesRoutes(endpoints, deps)
  addOpenapiRoute(endpoints)
  return endpoints
}
