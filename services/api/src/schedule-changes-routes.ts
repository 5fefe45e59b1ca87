import type { Router } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { addCalendarsRoutes } from './calendars-routes.ts'
import { addPausesRoutes } from './pauses-routes.ts'
import { addScheduleFileRoutes } from './schedule-file-routes.ts'
import { addSchedulesRoutes } from './schedules-routes.ts'
import { addVersionsRoutes } from './versions-routes.ts'

/** All that changes schedules, calendars and pauses. Last, since `/schedules/{name}` takes every name. */
export function addScheduleChangesRoutes(router: Router, deps: ApiDeps): void {
  addScheduleFileRoutes(router, deps)
  addPausesRoutes(router, deps)
  addVersionsRoutes(router, deps)
  addCalendarsRoutes(router, deps)
  addSchedulesRoutes(router, deps)
}
