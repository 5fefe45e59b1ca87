import { hash } from 'node:crypto'
import { ALERTS_QUEUE } from '@jadwal/domain'

/**
 * Every Redis key of Jadwal, with its type and content. A queue, its dead-letter queue and its
 * companions carry one hash tag, so they lie in one slot and one script or MULTI may touch them all.
 */

/** What BullMQ puts before its own keys of a queue, and of the queue's dead-letter queue. */
export function bullPrefix(prefix: string, queue: string): string {
  return `{${prefix}:${queue}}`
}

/** The BullMQ queue that keeps a queue's dead letters. It has its queue's `bullPrefix`. */
export function deadQueueName(queue: string): string {
  return `${queue}.dead`
}

/** One of BullMQ's own keys of a queue: HASH of a message by its id, and `wait`, `active`, `failed`, `meta` … */
export function bullKey(prefix: string, queue: string, part: string): string {
  return `${bullPrefix(prefix, queue)}:${queue}:${part}`
}

/** One of BullMQ's own keys of a queue's dead-letter queue. */
export function deadKey(prefix: string, queue: string, part: string): string {
  return `${bullPrefix(prefix, queue)}:${deadQueueName(queue)}:${part}`
}

/** HASH schedule uuid → last tick decided (ms), plus `term` → the highest term that fires into this queue. */
export function lastTicksKey(prefix: string, queue: string): string {
  return `${bullPrefix(prefix, queue)}:last-ticks`
}

/** What stands before the rest of the name of a queue's companions. */
export function companionPrefix(prefix: string, queue: string): string {
  return `${bullPrefix(prefix, queue)}:`
}

/** SET of the ids of a schedule's unfinished runs; or of a backfill's, by its uuid. */
export function unfinishedKey(prefix: string, queue: string, owner: string): string {
  return `${companionPrefix(prefix, queue)}unfinished:${owner}`
}

/** HASH of the run that waits until all others of its schedule have ended: `id`, `due` (ms), `fact`. */
export function heldKey(prefix: string, queue: string, owner: string): string {
  return `${companionPrefix(prefix, queue)}held:${owner}`
}

/** LIST of the ids of runs that are parked in a lot, the first one first. */
export function parkedKey(prefix: string, queue: string, lot: string): string {
  return `${companionPrefix(prefix, queue)}parked:${lot}`
}

/** SET of the ids of runs that have a slot of a lot. Written by Lua (`lot-lua.ts`), which spells it out. */
export function slotsKey(prefix: string, queue: string, lot: string): string {
  return `${companionPrefix(prefix, queue)}slots:${lot}`
}

/** HASH lot → how many slots it has, or '' for one without slots. Of each with a parked run or a slot taken. */
export function lotsKey(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}lots`
}

/** STRING with PX: the HSCAN cursor behind the lots that were tended, of a queue with many. */
export function lotsCursorKey(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}lots-cursor`
}

/** STRING with PX: set by the worker that has just tended the lots. */
export function lotsTendedKey(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}lots-tended`
}

/**
 * STRING with PX: what was decided about a dead letter of the queue. `claimed <queue>`: its new run is
 * being put into that queue; `redriven`; or `discarded <JSON of at, by and reason>`. Beside it Lua
 * (`settle-scripts.ts`) keeps `redriven:<id>` in the queue of the new run, STRING with PX: it was made.
 */
export function settledKey(prefix: string, queue: string, id: string): string {
  return `${companionPrefix(prefix, queue)}settled:${id}`
}

/** HASH run id → why it is to be cancelled (a RunReason). Written before anything is done about it. */
export function cancelsKey(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}cancels`
}

/** PUBSUB: `<run id> <reason>` of a run that is to be cancelled. */
export function cancelChannel(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}cancel`
}

/** Longer idempotency keys are kept as their hash, which is longer still, so that none looks like another. */
const LONGEST_IDEMPOTENCY_KEY = 60

/**
 * STRING with PX: `<run id> <hash of the job and the payload>` of the run that has an idempotency key.
 * A job's name has no colon in it.
 */
export function idempotencyClaimKey(
  prefix: string,
  queue: string,
  { job, key }: { job: string; key: string },
): string {
  const kept = key.length > LONGEST_IDEMPOTENCY_KEY ? hash('sha256', key) : key
  return `${companionPrefix(prefix, queue)}idempotent:${job}:${kept}`
}

/** STRING with PX: likewise, of the run whose id its client made. */
export function idClaimKey(prefix: string, queue: string, id: string): string {
  return `${companionPrefix(prefix, queue)}claimed:${id}`
}

/** ZSET run id → until when (ms) its end is to be told to who follows it. Goes with the last of them. */
export function followedKey(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}followed`
}

/** STRING with PX: the last fact, as JSON, of a run that was followed. */
export function endedKey(prefix: string, queue: string, id: string): string {
  return `${companionPrefix(prefix, queue)}ended:${id}`
}

/** PUBSUB: the id of a run that was followed and has ended. */
export function endedChannel(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}ended`
}

/**
 * The keys of fuses are written by Lua (`fuse-lua.ts`), which spells them out.
 * HASH of a job's fuse that is not closed: `state` (open, probing), `until` (ms), `times` in a row,
 * `openedAt` and `lookedAt` (ms); while probing `step`, and how its runs ended, `good` and `bad`.
 */
export function fuseKey(prefix: string, queue: string, job: string): string {
  return `${companionPrefix(prefix, queue)}fuse:${job}`
}

/** HASH with an expiry: `<ms>:good` and `<ms>:bad` → how many attempts ended so in the part of the window from then. */
export function fuseWindowKey(prefix: string, queue: string, job: string): string {
  return `${companionPrefix(prefix, queue)}fuse-window:${job}`
}

/** HASH id of a run that was let through → token of its attempt, or `@<ms>` when it was let out of the lot. */
export function fuseProbesKey(prefix: string, queue: string, job: string): string {
  return `${companionPrefix(prefix, queue)}fuse-probes:${job}`
}

/** SET of the jobs whose fuse is not closed, or whose lot is not empty. */
export function fusesKey(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}fuses`
}

/** LIST of changes of fuses, as JSON, of which no event was raised yet. */
export function fuseNewsKey(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}fuse-news`
}

/** The lot in which the runs of a job wait while its fuse is not closed. */
export function fuseLot(job: string): string {
  return `fuse:${job}`
}

/** PUBSUB: the name of a job whose fuse has opened or closed. */
export function fuseChannel(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}fuse`
}

/** HASH of who paused the queue: `by`, `at` (ISO) and `reason`. That it is paused stands in BullMQ's `meta`. */
export function queuePauseKey(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}pause`
}

/** STREAM of entries with one field `facts`: facts as JSON, one a line. */
export function outboxKey(prefix: string, queue: string): string {
  return `${bullPrefix(prefix, queue)}:outbox`
}

/** STREAM of facts that Postgres refused: `fact`, `error`, `entry`. */
export function outboxRejectedKey(prefix: string, queue: string): string {
  return `${bullPrefix(prefix, queue)}:outbox-rejected`
}

/** The part of a queue's name in the keys of the scheduler: lease, term, and the outbox of terms. */
export const SCHEDULER = 'scheduler'

/** STRING with PX: the token of the leader. */
export function leaseKey(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:lease`
}

/** HASH of the latest term: `term`, `instance`, `since` (ISO), `ended` (ISO, when it was released). */
export function leaderKey(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:leader`
}

/** PUBSUB: a message when the lease was released. */
export function leaseFreeChannel(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:lease-free`
}

/** PUBSUB: the number of a term that is to end. */
export function stepDownChannel(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:step-down`
}

/** STRING: the term that somebody asks to end, and who asks. */
export function stepDownKey(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:step-down-asked`
}

/** STREAM, capped, of events: `type`, `at` (ISO), `data` (JSON). */
export function eventsKey(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:events`
}

/** STREAM, capped, of what happens to runs, likewise; written only while somebody listens. Goes after an hour. */
export function runEventsKey(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:run-events`
}

/** STRING with PX: somebody listens to what happens to runs. */
export function runEventsWantedKey(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:run-events-wanted`
}

/** STRING: the revision of the schedules up to which `schedule.changed` was told. */
export function toldRevisionKey(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:told-revision`
}

/** SET of the instances of workers of which `worker.joined` was told and `worker.left` was not. */
export function toldWorkersKey(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:told-workers`
}

/** PUBSUB: a message when schedules have changed in Postgres. */
export function schedulesChangedChannel(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:schedules-changed`
}

/** PUBSUB: a message when a token was made or revoked. */
export function tokensChangedChannel(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:tokens-changed`
}

/** STRING with PX: the token of the api that evaluates alerts. */
export function alertsLeaseKey(prefix: string): string {
  return `${companionPrefix(prefix, ALERTS_QUEUE)}evaluator`
}

/** HASH rule and group → the alert (`AlertState`, as JSON), of each of which something is left to be told. */
export function alertStatesKey(prefix: string): string {
  return `${companionPrefix(prefix, ALERTS_QUEUE)}states`
}

/** HASH schedule uuid → the queue that its last tick is kept in. */
export function homesKey(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:homes`
}

/** SET of the names of all queues that ever had a run. Written before the first message. */
export function queuesKey(prefix: string): string {
  return `{${prefix}:registry}:queues`
}

/**
 * STRING with PX: the queue of the run whose id, a lower-case UUID, its client made. Claims of ids lie with
 * their queue, so this one keeps an id from being claimed in two.
 */
export function idHomeKey(prefix: string, id: string): string {
  return `{${prefix}:registry}:run-id:${id}`
}

/** HASH job name → JobDescription as JSON. Published by workers; stays when they go. */
export function jobsKey(prefix: string): string {
  return `{${prefix}:registry}:jobs`
}

/** HASH instance → WorkerInfo as JSON. */
export function workersKey(prefix: string): string {
  return `{${prefix}:registry}:workers`
}
