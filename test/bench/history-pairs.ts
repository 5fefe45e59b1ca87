import { type Ask, one, scheduleOf, someHours, someWeeks } from './history-ask.ts'
import { BROKEN_JOB, CITIES, JOBS, QUEUES, TEAMS, WORDS } from './history-rows.ts'

const ERRORS = ['Error', 'TimeoutError', 'DeclinedError', 'TlsError', 'PowerError', 'NoSuchError']
const TEXTS = [WORDS.common, WORDS.rare, WORDS.oldest, WORDS.nowhere, WORDS.commonest, ...CITIES]

const job = (random: () => number): string => one(random, JOBS)
const queue = (random: () => number): string => one(random, QUEUES)
const q = (random: () => number): string => one(random, TEXTS)
const error = (random: () => number): string => one(random, ERRORS)
const labels = (random: () => number): Record<string, string> =>
  one(random, [{ team: one(random, TEAMS) }, { env: 'staging' }, { env: 'prod' }, { env: 'none' }])

/** Searches of the bench by several filters, by name: values that are often, seldom and never together. */
export function severalFilters(): Record<string, Ask> {
  return {
    'job and state': (random) => ({ filters: { job: job(random), states: ['dead'] } }),
    'job without a success, succeeded': () => ({
      filters: { job: BROKEN_JOB, states: ['succeeded'] },
    }),
    'queue and states': (random) => ({
      filters: { queue: queue(random), states: ['dead', 'retrying'] },
    }),
    'job and queue': (random) => ({ filters: { job: job(random), queue: queue(random) } }),
    'job and its queue': (random) => {
      const n = Math.floor(random() * JOBS.length)
      return { filters: { job: `job-${n}`, queue: `queue-${n % QUEUES.length}` } }
    },
    'job, queue and state': (random) => ({
      filters: { job: job(random), queue: queue(random), states: ['dead'] },
    }),
    'job, from and to': (random) => ({ filters: { job: job(random), ...someHours(random) } }),
    'job and schedule': (random) => ({
      filters: { job: job(random), schedule: scheduleOf(random) },
    }),
    'job and label': (random) => ({ filters: { job: job(random), labels: labels(random) } }),
    'job and word': (random) => ({ filters: { job: job(random), q: q(random) } }),
    'job and error': (random) => ({ filters: { job: job(random), error: error(random) } }),
    'job, late': (random) => ({ filters: { job: job(random), late: true } }),
    'queue, from and to': (random) => ({ filters: { queue: queue(random), ...someHours(random) } }),
    'queue and schedule': (random) => ({
      filters: { queue: queue(random), schedule: scheduleOf(random) },
    }),
    'queue and label': (random) => ({ filters: { queue: queue(random), labels: labels(random) } }),
    'queue and word': (random) => ({ filters: { queue: queue(random), q: q(random) } }),
    'queue and error': (random) => ({ filters: { queue: queue(random), error: error(random) } }),
    'schedule and state': (random) => ({
      filters: { schedule: scheduleOf(random), states: ['dead'] },
    }),
    'schedule and state succeeded': (random) => ({
      filters: { schedule: scheduleOf(random), states: ['succeeded'] },
    }),
    'schedule, from and to': (random) => ({
      filters: { schedule: scheduleOf(random), ...someHours(random) },
    }),
    'schedule and label': (random) => ({
      filters: { schedule: scheduleOf(random), labels: labels(random) },
    }),
    'schedule and word': (random) => ({
      filters: { schedule: scheduleOf(random), q: q(random) },
    }),
    'schedule and error': (random) => ({
      filters: { schedule: scheduleOf(random), error: error(random) },
    }),
    'state and word': (random) => ({ filters: { states: ['dead'], q: q(random) } }),
    'state succeeded and word': (random) => ({
      filters: { states: ['succeeded'], q: q(random) },
    }),
    'state and label': (random) => ({ filters: { states: ['dead'], labels: labels(random) } }),
    'state and error': (random) => ({
      filters: { states: [one(random, ['dead', 'retrying', 'succeeded'])], error: error(random) },
    }),
    'state, from and to': (random) => ({
      filters: { states: ['dead', 'cancelled'], ...someHours(random) },
    }),
    'label and word': (random) => ({ filters: { labels: labels(random), q: q(random) } }),
    'label, from and to': (random) => ({
      filters: { labels: labels(random), ...someWeeks(random) },
    }),
    'word, from and to': (random) => ({ filters: { q: q(random), ...someWeeks(random) } }),
    'error, from and to': (random) => ({ filters: { error: error(random), ...someWeeks(random) } }),
    'error and word': (random) => ({ filters: { error: error(random), q: q(random) } }),
    'job, label and word': (random) => ({
      filters: { job: job(random), labels: labels(random), q: q(random) },
    }),
    'job, state and word': (random) => ({
      filters: { job: job(random), states: ['dead'], q: q(random) },
    }),
    'queue, state and label': (random) => ({
      filters: { queue: queue(random), states: ['dead'], labels: labels(random) },
    }),
    'schedule, state, from and to': (random) => ({
      filters: { schedule: scheduleOf(random), states: ['dead'], ...someWeeks(random) },
    }),
    'queue, error, from and to': (random) => ({
      filters: { queue: queue(random), error: error(random), ...someWeeks(random) },
    }),
  }
}
