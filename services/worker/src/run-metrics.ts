import type { RunEnd, StartedRun } from '@jadwal/queue'
import type { AnyJob } from '@jadwal/sdk'
import { Counter, Histogram, type Registry } from 'prom-client'

const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800]
const WAIT_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200]

interface JobSeries {
  succeeded: Counter.Internal
  dead: Counter.Internal
  cancelled: Counter.Internal
  duration: Histogram.Internal<'queue' | 'job'>
  wait: Histogram.Internal<'queue' | 'job'>
}

/**
 * The metrics of a worker; their names are part of the public contract. The series of each job are
 * looked up once, as a run that takes microseconds must not pay for labels.
 */
export class RunMetrics {
  readonly #runs: Counter<'queue' | 'job' | 'outcome'>
  readonly #duration: Histogram<'queue' | 'job'>
  readonly #wait: Histogram<'queue' | 'job'>
  readonly #attempts: Record<
    'succeeded' | 'failed' | 'drained' | 'lost' | 'cancelled',
    Counter.Internal
  >
  readonly #rescued: Counter
  readonly #series = new Map<string, JobSeries>()
  readonly #unknown = new Map<string, JobSeries>()

  constructor(registry: Registry, jobs: readonly AnyJob[]) {
    const registers = [registry]
    this.#runs = new Counter({
      name: 'jadwal_runs_total',
      help: 'Runs that ended, by outcome.',
      labelNames: ['queue', 'job', 'outcome'],
      registers,
    })
    this.#duration = new Histogram({
      name: 'jadwal_run_duration_seconds',
      help: 'How long attempts took.',
      labelNames: ['queue', 'job'],
      buckets: DURATION_BUCKETS,
      registers,
    })
    this.#wait = new Histogram({
      name: 'jadwal_run_wait_seconds',
      help: 'How long due runs waited for their first attempt.',
      labelNames: ['queue', 'job'],
      buckets: WAIT_BUCKETS,
      registers,
    })
    const attempts = new Counter({
      name: 'jadwal_attempts_total',
      help: 'Attempts, by outcome.',
      labelNames: ['outcome'],
      registers,
    })
    this.#attempts = {
      succeeded: attempts.labels('succeeded'),
      failed: attempts.labels('failed'),
      drained: attempts.labels('drained'),
      lost: attempts.labels('lost'),
      cancelled: attempts.labels('cancelled'),
    }
    this.#rescued = new Counter({
      name: 'jadwal_rescued_runs_total',
      help: 'Runs taken up after the attempt before ended without an outcome.',
      registers,
    })
    for (const job of jobs) this.#series.set(job.name, this.#seriesOf(job.queue, job.name))
  }

  ended(run: StartedRun, end: RunEnd, counted: boolean): void {
    if (run.lostInARow > 0) this.#rescued.inc()
    if (!counted) {
      this.#attempts.lost.inc()
      return
    }
    const series = this.#series.get(run.job) ?? this.#unknownOn(run.queue)
    series.duration.observe((run.endedAtMs - run.startedAtMs) / 1_000)
    if (run.attempt === 1) series.wait.observe(Math.max(0, run.startedAtMs - run.dueAtMs) / 1_000)
    switch (end.kind) {
      case 'succeeded':
        series.succeeded.inc()
        this.#attempts.succeeded.inc()
        return
      case 'dead':
        series.dead.inc()
        this.#attempts.failed.inc()
        return
      case 'cancelled':
        series.cancelled.inc()
        this.#attempts.cancelled.inc()
        return
      case 'retry':
        this.#attempts.failed.inc()
        return
      case 'drained':
        this.#attempts.drained.inc()
        return
      case 'lost':
        this.#attempts.lost.inc()
        return
      case 'left-alone':
      case 'in-lot':
    }
  }

  /** Names of jobs that nobody defined come from outside: they get no series each. */
  #unknownOn(queue: string): JobSeries {
    const series = this.#unknown.get(queue) ?? this.#seriesOf(queue, 'unknown')
    this.#unknown.set(queue, series)
    return series
  }

  #seriesOf(queue: string, job: string): JobSeries {
    return {
      succeeded: this.#runs.labels(queue, job, 'succeeded'),
      dead: this.#runs.labels(queue, job, 'dead'),
      cancelled: this.#runs.labels(queue, job, 'cancelled'),
      duration: this.#duration.labels(queue, job),
      wait: this.#wait.labels(queue, job),
    }
  }
}
