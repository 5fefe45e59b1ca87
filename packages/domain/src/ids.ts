import { hash } from 'node:crypto'
import { z } from 'zod'

export const RunId = z.uuid().brand<'RunId'>()
export type RunId = z.infer<typeof RunId>

export const ScheduleId = z.uuid().brand<'ScheduleId'>()
export type ScheduleId = z.infer<typeof ScheduleId>

/**
 * The id of the run of one tick: a UUIDv7 (RFC 9562 §5.7) whose time is the tick's instant and whose
 * random bits are a hash of (schedule, tick), so that whoever fires the tick makes the same id.
 */
export function tickRunId(scheduleId: ScheduleId, tickAtMs: number): RunId {
  return uuidV7(tickAtMs, hash('sha256', `${scheduleId}@${tickAtMs}`)) as RunId
}

/**
 * The id of a row for ticks in a row that get no run. Not that of its first tick's run: should Redis
 * lose some time, that tick may have a run already, and both rows are to stay.
 */
export function skippedRowId(scheduleId: ScheduleId, firstTickAtMs: number): RunId {
  return uuidV7(firstTickAtMs, hash('sha256', `${scheduleId}@${firstTickAtMs} skipped`)) as RunId
}

/**
 * The id of the run that a backfill makes for a tick: its time is that of the backfill, so that it
 * lies with the runs of its day.
 */
export function backfillRunId(
  backfill: { id: string; createdAtMs: number },
  tickAtMs: number,
): RunId {
  return uuidV7(backfill.createdAtMs, hash('sha256', `${backfill.id}@${tickAtMs}`)) as RunId
}

/**
 * The id of the run that a dead one is redriven as: whoever redrives it makes the same one, however
 * often. Its time is that of the dead run, so their rows lie together.
 */
export function redriveRunId(deadId: string): RunId {
  const id = deadId.toLowerCase()
  return uuidV7(runIdTimeMs(id as RunId), hash('sha256', `${id} redriven`)) as RunId
}

/**
 * The id of the run that sends a message of an alert to one target: whoever sends it makes the same one,
 * however often. `atMs` is when the message fell due.
 */
export function alertRunId(
  message: { alertId: string; sequence: number; atMs: number },
  target: string,
): RunId {
  const { alertId, sequence, atMs } = message
  return uuidV7(atMs, hash('sha256', `${alertId} ${sequence} ${target}`)) as RunId
}

/** The id of an enqueued run: a UUIDv7. `random` gives at least ten bytes. */
export function newRunId(nowMs: number, random: Uint8Array): RunId {
  return uuidV7(nowMs, Buffer.from(random.subarray(0, 10)).toString('hex')) as RunId
}

/** A UUIDv7 of what is no run. `random` gives at least ten bytes. */
export function newOrderedId(nowMs: number, random: Uint8Array): string {
  return newRunId(nowMs, random)
}

/** The instant that a UUIDv7 carries, in ms since the epoch. */
export function runIdTimeMs(id: RunId): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** The smallest UUID of an instant: the border between partitions by time. */
export function firstUuidAt(atMs: number): string {
  const time = hex12(atMs)
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

/** `random`: at least 20 hex digits, of which the first and the fifth make way for version and variant. */
function uuidV7(atMs: number, random: string): string {
  const time = hex12(atMs)
  const variant = (8 | (Number.parseInt(random.slice(4, 5), 16) & 3)).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(1, 4)}-${variant}${random.slice(5, 8)}-${random.slice(8, 20)}`
}

function hex12(atMs: number): string {
  return Math.max(0, Math.trunc(atMs)).toString(16).padStart(12, '0')
}
