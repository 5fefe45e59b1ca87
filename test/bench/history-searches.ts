import { firstUuidAt } from '@jadwal/domain'
import { anywhere, type Ask, dayOf, one, scheduleOf, someHours } from './history-ask.ts'
import { severalFilters } from './history-pairs.ts'
import {
  CITIES,
  dayStart,
  JOBS,
  OLD_JOB,
  OLD_QUEUE,
  QUEUES,
  TEAMS,
  uuidOf,
  WORDS,
} from './history-rows.ts'

/** The searches of the bench, by name, on a history with so many runs a day: by one filter, and by several. */
export function searches(perDay: number): Record<string, Ask> {
  return {
    'no filter': () => ({ filters: {} }),
    'no filter, deep cursor': (random) => ({ filters: {}, page: { cursor: anywhere(random) } }),
    'from and to': (random) => ({ filters: someHours(random) }),
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
    schedule: (random) => ({ filters: { schedule: scheduleOf(random) } }),
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
    ...severalFilters(),
  }
}
