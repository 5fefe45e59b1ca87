import type { PageRequest, RunFilters } from '@jadwal/db'
import { DAY, firstUuidAt } from '@jadwal/domain'
import {
  BROKEN_JOB,
  CITIES,
  DAYS,
  dayStart,
  JOBS,
  LAST_DAY_MS,
  OLD_JOB,
  OLD_QUEUE,
  QUEUES,
  TEAMS,
  uuidOf,
  WORDS,
} from './history-rows.ts'

/** What one search asks for, with values of its own each time. */
export type Ask = (random: () => number) => { filters: RunFilters; page?: PageRequest }

const one = <T>(random: () => number, of: readonly T[]): T =>
  of[Math.floor(random() * of.length)] as T
const dayOf = (random: () => number): number => Math.floor(random() * DAYS)
const cursorAt = (ms: number): string => Buffer.from(firstUuidAt(ms)).toString('base64url')
const anywhere = (random: () => number): string => cursorAt(dayStart(0) + random() * DAYS * DAY)

/** The searches of the bench, by name, on a history with so many runs a day. */
export function searches(perDay: number): Record<string, Ask> {
  return {
    'no filter': () => ({ filters: {} }),
    'no filter, deep cursor': (random) => ({ filters: {}, page: { cursor: anywhere(random) } }),
    'from and to': (random) => {
      const fromMs = dayStart(0) + random() * (DAYS - 2) * DAY
      return { filters: { from: new Date(fromMs), to: new Date(fromMs + 2 * DAY * random()) } }
    },
    job: (random) => ({ filters: { job: one(random, JOBS) } }),
    'job, 200 runs': (random) => ({ filters: { job: one(random, JOBS) }, page: { limit: 200 } }),
    'job, deep cursor': (random) => ({
      filters: { job: one(random, JOBS) },
      page: { cursor: anywhere(random) },
    }),
    'job with few runs long ago': () => ({ filters: { job: OLD_JOB } }),
    'job that never ran': (random) => ({ filters: { job: `none-${random()}` } }),
    queue: (random) => ({ filters: { queue: one(random, QUEUES) } }),
    'queue with few runs long ago': () => ({ filters: { queue: OLD_QUEUE } }),
    'state succeeded': () => ({ filters: { states: ['succeeded'] } }),
    'state succeeded, deep cursor': (random) => ({
      filters: { states: ['succeeded'] },
      page: { cursor: anywhere(random) },
    }),
    'state dead': (random) => ({
      filters: { states: ['dead'] },
      page: { cursor: anywhere(random) },
    }),
    'state running': () => ({ filters: { states: ['running'] } }),
    'several states': () => ({ filters: { states: ['dead', 'cancelled', 'retrying'] } }),
    'states with succeeded': () => ({ filters: { states: ['succeeded', 'dead'] } }),
    schedule: (random) => ({ filters: { schedule: `schedule-${Math.floor(random() * 200)}` } }),
    'error class': (random) => ({
      filters: { error: one(random, ['Error', 'TimeoutError', 'DeclinedError', 'TlsError']) },
    }),
    'error class long ago': () => ({ filters: { error: 'PowerError' } }),
    'error class nowhere': () => ({ filters: { error: 'NoSuchError' } }),
    'idempotency key': (random) => ({
      filters: { idempotencyKey: `key-${dayOf(random)}-${Math.floor(random() * perDay)}` },
    }),
    parent: (random) => ({
      filters: { parent: uuidOf(10_000 + Math.floor((random() * perDay) / 100)) },
    }),
    backfill: (random) => ({ filters: { backfill: uuidOf(1_000 + dayOf(random)) } }),
    late: () => ({ filters: { late: true } }),
    'label of most': () => ({ filters: { labels: { env: 'prod' } } }),
    'label of most, deep cursor': (random) => ({
      filters: { labels: { env: 'prod' } },
      page: { cursor: anywhere(random) },
    }),
    'label of some': (random) => ({ filters: { labels: { team: one(random, TEAMS) } } }),
    'label of few': (random) => ({
      filters: { labels: { customer: `c${Math.floor(random() * 100_000)}` } },
    }),
    'label long ago': () => ({ filters: { labels: { origin: 'import' } } }),
    'label nowhere': () => ({ filters: { labels: { env: 'nowhere' } } }),
    'two labels': (random) => ({
      filters: { labels: { env: 'staging', team: one(random, TEAMS) } },
    }),
    'word of most': () => ({ filters: { q: WORDS.commonest } }),
    'word of most, deep cursor': (random) => ({
      filters: { q: WORDS.commonest },
      page: { cursor: anywhere(random) },
    }),
    'word of half of all errors': () => ({ filters: { q: WORDS.common } }),
    'word of some payloads': (random) => ({ filters: { q: one(random, CITIES) } }),
    'rare word': () => ({ filters: { q: WORDS.rare } }),
    'word of the oldest day': () => ({ filters: { q: WORDS.oldest } }),
    'rare word of the oldest day': () => ({ filters: { q: WORDS.oldestRare } }),
    'word that is nowhere': (random) => ({ filters: { q: `${WORDS.nowhere}${random()}` } }),
    'word of one payload': (random) => ({
      filters: { q: `order-${dayOf(random)}-${Math.floor(random() * perDay)}` },
    }),
    'two common words': () => ({ filters: { q: 'order jakarta' } }),
    'q is an idempotency key': (random) => ({
      filters: { q: `key-${dayOf(random)}-${Math.floor(random() * perDay)}` },
    }),
    'q is the id of a run': (random) => ({ filters: { q: firstUuidAt(dayStart(dayOf(random))) } }),
    'job and state': (random) => ({ filters: { job: one(random, JOBS), states: ['dead'] } }),
    'job without a success, succeeded': () => ({
      filters: { job: BROKEN_JOB, states: ['succeeded'] },
    }),
    'queue and states': (random) => ({
      filters: { queue: one(random, QUEUES), states: ['dead', 'retrying'] },
    }),
    'job and queue': (random) => ({
      filters: { job: one(random, JOBS), queue: one(random, QUEUES) },
    }),
    'schedule and state': (random) => ({
      filters: { schedule: `schedule-${Math.floor(random() * 200)}`, states: ['dead'] },
    }),
    'job and label': (random) => ({
      filters: { job: one(random, JOBS), labels: { team: one(random, TEAMS) } },
    }),
    'job and word': (random) => ({
      filters: { job: one(random, JOBS), q: one(random, [WORDS.common, WORDS.rare, ...CITIES]) },
    }),
    'state and word': (random) => ({
      filters: { states: ['dead'], q: one(random, [WORDS.common, WORDS.rare, WORDS.oldest]) },
    }),
    'state and label': (random) => ({
      filters: { states: ['dead'], labels: { team: one(random, TEAMS) } },
    }),
    'label and word': (random) => ({
      filters: { labels: { team: one(random, TEAMS) }, q: one(random, [...CITIES, WORDS.common]) },
    }),
    'word, from and to': (random) => ({
      filters: {
        q: one(random, [WORDS.common, WORDS.rare, ...CITIES]),
        from: new Date(dayStart(5)),
        to: new Date(LAST_DAY_MS - 5 * DAY * random()),
      },
    }),
  }
}
