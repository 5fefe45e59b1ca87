import type { PageRequest, RunFilters } from '@jadwal/db'
import { DAY, firstUuidAt } from '@jadwal/domain'
import { DAYS, dayStart, SCHEDULES } from './history-rows.ts'

/** What one search asks for, with values of its own each time. */
export type Ask = (random: () => number) => { filters: RunFilters; page?: PageRequest }

export const one = <T>(random: () => number, of: readonly T[]): T =>
  of[Math.floor(random() * of.length)] as T

export const dayOf = (random: () => number): number => Math.floor(random() * DAYS)

export const scheduleOf = (random: () => number): string =>
  `schedule-${Math.floor(random() * SCHEDULES.length)}`

/** A cursor at any time of the history. */
export const anywhere = (random: () => number): string =>
  Buffer.from(firstUuidAt(dayStart(0) + random() * DAYS * DAY)).toString('base64url')

/** Up to two days anywhere. */
export function someHours(random: () => number): { from: Date; to: Date } {
  const fromMs = dayStart(0) + random() * (DAYS - 2) * DAY
  return { from: new Date(fromMs), to: new Date(fromMs + 2 * DAY * random()) }
}

/** From the sixth day on, to one of the last five. */
export function someWeeks(random: () => number): { from: Date; to: Date } {
  return { from: new Date(dayStart(5)), to: new Date(dayStart(DAYS - 1) - 5 * DAY * random()) }
}
