import type { Db } from '@jadwal/db'
import type { Clock } from '@jadwal/domain'
import type { DeadLetters, Producer, Trigger } from '@jadwal/queue'
import type { Logger, ReadyCheck } from '@jadwal/runtime'
import type { RequestHandler } from 'express'
import type { Redis } from 'ioredis'
import type { ApiMetrics } from './api-metrics.ts'
import type { AuditTrail } from './audit-trail.ts'
import type { ProviderConfig } from './oidc-config.ts'
import type { EventHub } from './event-hub.ts'
import type { QueueSnapshots } from './queue-snapshots.ts'
import type { SearchGate } from './search-gate.ts'
import type { ShownRuns } from './shown-runs.ts'
import type { TokenBook } from './token-book.ts'
import type { TokenUses } from './token-uses.ts'

/** What the routes work with. */
export interface ApiDeps {
  redis: Redis
  prefix: string
  /** The address that people open, where it is known. */
  publicUrl: string | undefined
  db: Db
  /** Through it go searches of the history. */
  searching: SearchGate
  producer: Producer
  /** For messages of alerts alone. */
  alertProducer: Producer
  trigger: Trigger
  /** The largest payload of a run, in bytes as JSON. */
  maxPayloadBytes: number
  deadLetters: DeadLetters
  snapshots: QueueSnapshots
  /** What of runs is shown, and to whom. */
  shownRuns: ShownRuns
  events: EventHub
  audit: AuditTrail
  tokens: TokenBook
  tokenUses: TokenUses
  clock: Clock
  log: Logger
  ready: ReadyCheck
  metrics: ApiMetrics
  /** Bull Board, made when all the others of these are there. */
  board: (deps: ApiDeps) => RequestHandler
}

/** Who may come in. */
export interface Admission {
  /** Undefined: everybody, on this machine only. */
  adminToken: string | undefined
  /** What workers read the history with, if they may. */
  viewerToken: string | undefined
  metricsToken: string | undefined
  /** The peers that are believed when they tell where a request comes from; `trust proxy` of Express. */
  trustedProxies: string[]
  /** Where people may sign in by OpenID Connect. */
  providerConfig: ProviderConfig | undefined
}
