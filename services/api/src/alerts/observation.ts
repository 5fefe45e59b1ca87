import type { Db } from '@jadwal/db'
import type { AlertGroup } from '@jadwal/domain'
import type { AlertSnapshot } from '@jadwal/queue'

/** What a rule finds at one look. */
export interface Observation {
  groups: AlertGroup[]
  /** False: there may be more than was found. */
  isComplete: boolean
}

export interface ObserveDeps {
  db: Db
  snapshot: AlertSnapshot
}
