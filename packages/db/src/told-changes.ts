import type { Kysely, Transaction } from 'kysely'
import type { CalendarRow, Database, SchedulePauseRow } from './database.ts'
import { findCalendar } from './list-calendars.ts'
import { listCurrentPauses } from './list-pauses.ts'
import { findSchedule, type ScheduleInForce } from './list-schedules.ts'
import { findCalendarTag, findScheduleTag } from './precondition.ts'
import { underScheduleLock } from './schedule-lock.ts'

/** A schedule between two changes. */
export interface ScheduleState {
  schedule: ScheduleInForce
  tag: string
  /** That of its own, not of everything; null when none is on. */
  pause: SchedulePauseRow | null
}

/** A calendar between two changes. */
export interface CalendarState {
  calendar: CalendarRow
  tag: string
}

/** What came of a change, and how what it is of was right before it and is right after it. */
export interface ToldChange<State, Outcome> {
  outcome: Outcome
  before: State
  after: State
}

type Change<Outcome> = (tx: Transaction<Database>) => Promise<Outcome>
type Told<State, Outcome> = Promise<ToldChange<State | undefined, Outcome>>

/** Makes a change under the lock of schedules, telling how one of them was and is; undefined where it is not there. */
export async function tellingSchedule<Outcome>(
  db: Kysely<Database>,
  name: string,
  change: Change<Outcome>,
): Told<ScheduleState, Outcome> {
  return await telling(db, change, async (tx) => {
    const schedule = await findSchedule(tx, name)
    const tag = await findScheduleTag(tx, name)
    if (!schedule || tag === undefined) return undefined
    const pauses = await listCurrentPauses(tx, [schedule.id])
    const pause = pauses.findLast((each) => each.schedule_id === schedule.id) ?? null
    return { schedule, tag, pause }
  })
}

/** Likewise of a calendar. */
export async function tellingCalendar<Outcome>(
  db: Kysely<Database>,
  name: string,
  change: Change<Outcome>,
): Told<CalendarState, Outcome> {
  return await telling(db, change, async (tx) => {
    const calendar = await findCalendar(tx, name)
    const tag = await findCalendarTag(tx, name)
    return calendar && tag !== undefined ? { calendar, tag } : undefined
  })
}

/** Likewise of the pause of everything. */
export async function tellingPause<Outcome>(
  db: Kysely<Database>,
  change: Change<Outcome>,
): Told<SchedulePauseRow, Outcome> {
  return await telling(db, change, async (tx) => (await listCurrentPauses(tx, [])).at(-1))
}

/** Nobody else changes anything between the looks. */
async function telling<State, Outcome>(
  db: Kysely<Database>,
  change: Change<Outcome>,
  look: (tx: Transaction<Database>) => Promise<State>,
): Promise<ToldChange<State, Outcome>> {
  return await underScheduleLock(db, async (tx) => {
    const before = await look(tx)
    const outcome = await change(tx)
    return { outcome, before, after: await look(tx) }
  })
}
