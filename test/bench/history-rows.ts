import { DAY, type RunState, revision } from '@jadwal/domain'

/** The days of the history: the last one is this one. */
const LAST_DAY_MS = Date.UTC(2026, 5, 30)
export const DAYS = 30

export const WORDS = {
  /** In half of all errors. */
  common: 'ECONNREFUSED',
  /** In most of the search texts. */
  commonest: 'order',
  /** In a few errors of each day. */
  rare: 'certificate',
  /** In errors of the oldest day alone, in many and in few. */
  oldest: 'brownout',
  oldestRare: 'zebrafish',
  nowhere: 'unheardof',
} as const

export const JOBS = Array.from({ length: 60 }, (_, n) => `job-${n}`)
export const QUEUES = Array.from({ length: 20 }, (_, n) => `queue-${n}`)
/** Has a few runs on the oldest day, and its label, and its queue. */
export const OLD_JOB = 'legacy-import'
export const OLD_QUEUE = 'legacy'
/** Most of its runs are of the newest days; none of them has succeeded. */
export const BROKEN_JOB = 'broken'
export const TEAMS = ['billing', 'growth', 'search', 'core', 'ops', 'data', 'mobile', 'legal']
export const SCHEDULES = Array.from({ length: 200 }, (_, n) => uuidOf(n))
export const CITIES = ['jakarta', 'bandung', 'surabaya', 'medan', 'semarang', 'makassar']

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Small numbers are much likelier than great ones, as with the runs of jobs. */
function skewed(random: () => number, count: number): number {
  return Math.floor(count * random() ** 3)
}

export interface DayOfRows {
  /** Of the day, counted from the oldest. */
  day: number
  rows: number
}

export function dayStart(day: number): number {
  return LAST_DAY_MS - (DAYS - 1 - day) * DAY
}

/** The columns of a line of `runLine`. */
export const RUN_COLUMNS =
  'id, revision, state, reason, job, queue, schedule_id, schedule, tick_at, payload, labels, priority, enqueued_at, attempt, worker, started_at, finished_at, result, error, backfill_id, late_at, parent_id, idempotency_key, fingerprint, search, recorded_at'
export const ATTEMPT_COLUMNS = 'run_id, attempt, state, worker, started_at, finished_at, error'

/** Lines of COPY of one day's runs and their attempts, in the order of their ids. */
export function* dayLines({ day, rows }: DayOfRows): Generator<{ run: string; attempts: string }> {
  const random = randomNumbers(day + 1)
  const start = dayStart(day)
  for (let n = 0; n < rows; n++) {
    const atMs = start + Math.floor((n / rows) * DAY)
    yield lines({ random, day, n, atMs, isFirst: n < 20 })
  }
}

interface Spot {
  random: () => number
  day: number
  n: number
  atMs: number
  isFirst: boolean
}

function lines(spot: Spot): { run: string; attempts: string } {
  const { random, day, n, atMs } = spot
  const id = uuid7(atMs, random)
  const { job, queue } = jobOf(spot)
  const scheduled = random() < 0.3
  const schedule = skewed(random, SCHEDULES.length)
  const state = stateOf(spot, job, scheduled)
  const ended = state !== 'queued' && state !== 'running' && state !== 'retrying'
  const attempt = state === 'skipped' || state === 'queued' ? 0 : state === 'dead' ? 3 : 1
  const failed = state === 'dead' || state === 'retrying'
  const error = failed ? errorOf(spot) : NULL
  const started = attempt > 0 ? instant(atMs + 50) : NULL
  const finished = ended ? instant(atMs + 50 + Math.floor(random() * 5_000)) : NULL
  const worker = `worker-${Math.floor(random() * 8)}`
  const customer = Math.floor(random() * 100_000)
  const isOld = job === OLD_JOB
  const labels =
    random() < 0.6 || isOld
      ? JSON.stringify({
          env: random() < 0.9 ? 'prod' : 'staging',
          team: TEAMS[skewed(random, TEAMS.length)],
          ...(random() < 0.05 ? { customer: `c${customer}` } : {}),
          ...(isOld ? { origin: 'import' } : {}),
        })
      : NULL
  const run = [
    id,
    revision(attempt, state),
    state,
    state === 'dead' ? 'failed' : state === 'skipped' ? 'overlap' : NULL,
    job,
    queue,
    scheduled ? SCHEDULES[schedule] : NULL,
    scheduled ? `schedule-${schedule}` : NULL,
    scheduled ? instant(atMs) : NULL,
    JSON.stringify({ to: `user${customer}@example.com`, order: n, template: 'receipt' }),
    labels,
    0,
    instant(atMs),
    attempt,
    attempt > 0 ? worker : NULL,
    started,
    finished,
    state === 'succeeded' ? '{"ok":true}' : NULL,
    error,
    random() < 0.01 ? uuidOf(1_000 + day) : NULL,
    scheduled && random() < 0.002 ? instant(atMs + 60_000) : NULL,
    random() < 0.05 ? uuidOf(10_000 + Math.floor(n / 100)) : NULL,
    random() < 0.1 ? `key-${day}-${n}` : NULL,
    state === 'dead' ? `${job}-${Math.floor(random() * 5)}` : NULL,
    random() < 0.3
      ? `order-${day}-${n} order ${CITIES[skewed(random, CITIES.length)]} c${customer}`
      : NULL,
    finished === NULL ? instant(atMs) : finished,
  ]
  const attempts = failed
    ? Array.from({ length: attempt }, (_, at) =>
        [
          id,
          at + 1,
          'failed',
          worker,
          instant(atMs + 50 + at),
          instant(atMs + 60 + at),
          error,
        ].join('\t'),
      )
    : []
  return { run: `${run.join('\t')}\n`, attempts: attempts.map((line) => `${line}\n`).join('') }
}

const NULL = '\\N'

function jobOf({ random, day, isFirst }: Spot): { job: string; queue: string } {
  if (day === 0 && isFirst) return { job: OLD_JOB, queue: OLD_QUEUE }
  if (random() < 0.02) return { job: BROKEN_JOB, queue: 'broken' }
  const job = skewed(random, JOBS.length)
  return { job: JOBS[job] ?? '', queue: QUEUES[job % QUEUES.length] ?? '' }
}

function stateOf({ random, day }: Spot, job: string, scheduled: boolean): RunState {
  if (job === BROKEN_JOB) return 'dead'
  const lot = random()
  if (lot < 0.01) return 'dead'
  if (lot < 0.015) return 'cancelled'
  if (lot < 0.03 && scheduled) return 'skipped'
  if (lot < 0.031) return day === DAYS - 1 ? 'queued' : 'succeeded'
  if (lot < 0.032) return day === DAYS - 1 ? 'running' : 'succeeded'
  if (lot < 0.0325) return 'retrying'
  return 'succeeded'
}

function say(name: string, message: string): string {
  return JSON.stringify({ name, message })
}

function errorOf({ random, day, n }: Spot): string {
  const lot = random()
  const address = `10.0.${n % 256}.${n % 251}`
  if (day === 0 && lot < 0.3) return say('PowerError', `${WORDS.oldest} in hall ${n % 7}`)
  if (day === 0 && n < 50_000 && lot < 0.302) return say('PowerError', `${WORDS.oldestRare} lost`)
  if (lot < 0.5) return say('Error', `connect ${WORDS.common} ${address}:5432`)
  if (lot < 0.501) return say('TlsError', `${WORDS.rare} of ${address} has expired`)
  if (lot < 0.8) return say('TimeoutError', `no answer within 30 s from ${address}`)
  return say('DeclinedError', `payment of order-${day}-${n} was declined`)
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}

function uuid7(atMs: number, random: () => number): string {
  const time = atMs.toString(16).padStart(12, '0')
  const [a, b, c] = [random(), random(), random()].map((lot) =>
    Math.floor(lot * 4_294_967_296)
      .toString(16)
      .padStart(8, '0'),
  ) as [string, string, string]
  return `${time.slice(0, 8)}-${time.slice(8)}-7${a.slice(0, 3)}-8${a.slice(3, 6)}-${b}${c.slice(0, 4)}`
}

export function uuidOf(n: number): string {
  return `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
}
