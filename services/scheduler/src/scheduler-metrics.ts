import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** The metrics of the scheduler. Their names are part of the public contract. */
export function createSchedulerMetrics(registry: Registry) {
  const registers = [registry]
  return {
    ticks: new Counter({
      name: 'jadwal_ticks_total',
      help: 'Ticks decided, by verdict: fired, or the reason for which they were skipped.',
      labelNames: ['verdict'],
      registers,
    }),
    ticksLate: new Counter({
      name: 'jadwal_ticks_late_total',
      help: 'Ticks that had not succeeded by the time that their schedule gives them.',
      registers,
    }),
    lateness: new Histogram({
      name: 'jadwal_tick_lateness_seconds',
      help: 'From the instant of a tick to its run being in its queue.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600],
      registers,
    }),
    leader: new Gauge({
      name: 'jadwal_scheduler_leader',
      help: '1 while this scheduler leads, else 0.',
      registers,
    }),
    term: new Gauge({
      name: 'jadwal_scheduler_term',
      help: 'The term of this scheduler while it leads, else 0.',
      registers,
    }),
    skew: new Gauge({
      name: 'jadwal_clock_skew_seconds',
      help: 'How far the wall clock of this machine is ahead of the clock of Redis.',
      registers,
    }),
    schedules: new Gauge({
      name: 'jadwal_schedules',
      help: 'Schedules that are not deleted, as this scheduler knows them.',
      registers,
    }),
  }
}
export type SchedulerMetrics = ReturnType<typeof createSchedulerMetrics>
