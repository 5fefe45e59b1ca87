import type { ApiDeps } from './api-deps.ts'
import { addCalendarsRoutes } from './calendars-routes.ts'
import type { Endpoints } from './endpoints.ts'
import { addPausesRoutes } from './pauses-routes.ts'
import { addScheduleFileRoutes } from './schedule-file-routes.ts'
import { addSchedulesRoutes } from './schedules-routes.ts'
import { addVersionsRoutes } from './versions-routes.ts'

/** All that changes schedules, calendars and pauses. Last, since `/schedules/{name}` takes every name. */
export function addScheduleChangesRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  addScheduleFileRoutes(endpoints, deps)
  addPausesRoutes(endpoints, deps)
  addVersionsRoutes(endpoints, deps)
  addCalendarsRoutes(endpoints, deps)
  addSchedulesRoutes(endpoints, deps)
}
