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

/** HASH run id → why it is to be cancelled (a RunReason). Written before anything is done about it. */
export function cancelsKey(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}cancels`
}

/** PUBSUB: `<run id> <reason>` of a run that is to be cancelled. */
export function cancelChannel(prefix: string, queue: string): string {
  return `${companionPrefix(prefix, queue)}cancel`
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

/** STREAM, capped, of events: `type`, `at` (ISO), `data` (JSON). */
export function eventsKey(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:events`
}

/** PUBSUB: a message when schedules have changed in Postgres. */
export function schedulesChangedChannel(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:schedules-changed`
}

/** HASH schedule uuid → the queue that its last tick is kept in. */
export function homesKey(prefix: string): string {
  return `${bullPrefix(prefix, SCHEDULER)}:homes`
}

/** SET of the names of all queues that ever had a run. Written before the first message. */
export function queuesKey(prefix: string): string {
  return `{${prefix}:registry}:queues`
}

/** HASH job name → JobDescription as JSON. Published by workers; stays when they go. */
export function jobsKey(prefix: string): string {
  return `{${prefix}:registry}:jobs`
}

/** HASH instance → WorkerInfo as JSON. */
export function workersKey(prefix: string): string {
  return `{${prefix}:registry}:workers`
}
