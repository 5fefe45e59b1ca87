import { z } from 'zod'

const Name = z.string()
const Id = z.uuid()
const Instant = z.iso.datetime()

/** What the events of a run say of it. Never its payload or result. */
const run = {
  id: Id,
  job: Name,
  queue: Name,
  state: z.string(),
  attempt: z.int(),
  schedule: Name.nullish(),
  scheduleId: Id.nullish(),
  worker: z.string().nullish(),
  enqueuedAt: Instant,
  startedAt: Instant.nullish(),
  finishedAt: Instant.nullish(),
  reason: z.string().nullish(),
  /** Its message is cut at 200 characters. */
  error: z.object({ name: z.string().nullish(), message: z.string().nullish() }).nullish(),
}

const tick = {
  schedule: Name.nullish(),
  scheduleId: Id.nullish(),
  job: Name.nullish(),
  queue: Name.nullish(),
}

const fuse = { job: Name, queue: Name }
const queue = { queue: Name, by: z.string().nullish(), reason: z.string().nullish() }

/** What the data of each type of event holds at least. Kept for a while, the latest 10,000 or so. */
export const EVENT_DATA = {
  /** A run moved to the dead letters. `more`: as many others died at the same time and have no event. */
  'run.dead': z.looseObject({
    ...run,
    fingerprint: z.string().nullish(),
    more: z.int().nullish(),
  }),
  /** A tick had not succeeded by the time that its schedule gives it. `state` is that of its run. */
  'tick.late': z.looseObject({ ...tick, runId: Id, tickAt: Instant.nullish(), state: z.string() }),
  /**
   * Ticks of a schedule got no run, since its misfire policy says that it was too late for them. `more`:
   * so many other schedules missed some at the same time and have no event.
   */
  'tick.missed': z.looseObject({ ...tick, count: z.int(), more: z.int().nullish() }),
  /** So many attempts of a job failed that its runs are parked. */
  'fuse.opened': z.looseObject({ ...fuse, failed: z.int(), ended: z.int(), openUntil: Instant }),
  /** The runs of a job are made again. */
  'fuse.closed': z.looseObject({ ...fuse, openedAt: Instant, parked: z.int() }),
  /** A scheduler has begun to lead. */
  'leader.changed': z.looseObject({ instance: z.string(), term: z.int() }),
  /**
   * Schedules were made, changed or deleted. Without names it was a pause or a calendar that changed;
   * `isCut` when there were more than 100.
   */
  'schedule.changed': z.looseObject({ schedules: z.array(Name), isCut: z.boolean().nullish() }),
  'queue.paused': z.looseObject(queue),
  'queue.resumed': z.looseObject(queue),
  'worker.joined': z.looseObject({ instance: z.string(), host: z.string(), queues: z.array(Name) }),
  /** A worker has stopped, or was not heard of for 20 s. */
  'worker.left': z.looseObject({ instance: z.string() }),
  'alert.opened': z.looseObject({ rule: Name }),
  'alert.closed': z.looseObject({ rule: Name }),
} as const

/** The same of events that exist only while somebody listens to them. */
export const RUN_EVENT_DATA = {
  /** An attempt has been running for a second. */
  'run.started': z.looseObject(run),
  /** An attempt failed, and there is to be another. */
  'run.retrying': z.looseObject(run),
  'run.succeeded': z.looseObject(run),
  'run.cancelled': z.looseObject(run),
} as const

export type EventType = keyof typeof EVENT_DATA
export type RunEventType = keyof typeof RUN_EVENT_DATA

export const EVENT_TYPES = Object.keys(EVENT_DATA) as EventType[]
export const RUN_EVENT_TYPES = Object.keys(RUN_EVENT_DATA) as RunEventType[]
