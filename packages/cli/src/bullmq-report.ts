import type { RepeatableTakeOver } from './bullmq-schedules.ts'
import type { ImportReport, Remark } from './import-report.ts'
import type { JobMap } from './job-map.ts'
import { someNames } from './some-names.ts'

export interface TakenQueues {
  /** The address, without its password. */
  title: string
  prefix: string
  takeOver: RepeatableTakeOver
  jobs: JobMap
  /** As given; UTC otherwise. */
  timezone: string | undefined
}

/** What was taken over, what was not and why, and what differs from BullMQ. */
export function bullmqReport({
  title,
  prefix,
  takeOver,
  jobs,
  timezone,
}: TakenQueues): ImportReport {
  const { taken, refused, notes } = takeOver
  const assumed = taken.filter(({ zoneAssumed }) => zoneAssumed).map(({ name }) => name)
  return {
    title,
    noun: 'part',
    refused,
    toDo: toDo(prefix, jobs),
    taken: taken.map(({ key, name }) => ({ source: key, schedule: name })),
    notes: [
      ...jobs.unused.map((key) => `--map ${key}: nothing repeats under that queue and name.`),
      ...(taken.length === 0 ? [] : general({ assumed, timezone })),
      ...notes,
    ],
  }
}

function toDo(prefix: string, jobs: JobMap): Remark[] {
  return [...jobs.derived].map(([key, job]) => ({
    source: `${prefix}:${key.split('/')[0] ?? ''}`,
    remark: `the job ${key} became "${job}": define a job of that name with the code of its processor, or name another one with --map '${key}=…'`,
  }))
}

function general({
  assumed,
  timezone,
}: {
  assumed: readonly string[]
  timezone: string | undefined
}): string[] {
  return [
    assumed.length > 0 &&
      timezone === undefined &&
      `No tz: ${someNames(assumed)} fired in the zone of whichever process worked out the next run. They are read in UTC; --timezone says otherwise.`,
    'As under BullMQ, runs may overlap, none is tried again unless its options say so, and one may take long (24 h): see "defaults".',
    'As under BullMQ, ticks missed in an outage are made up for by one run. BullMQ made the next run only when a worker took the last one; Jadwal fires on time also when all workers are busy.',
    'At clock changes Jadwal does by default what BullMQ mostly did (see "dst"); it puts right what BullMQ lost or moved in zones whose clock changes at midnight or by half an hour.',
    'BullMQ goes on to fire these until its schedulers are removed, and code that upserts them at its start brings them back: compare with --shadow first, and remove that code when Jadwal takes over.',
  ].filter((note) => note !== false)
}
