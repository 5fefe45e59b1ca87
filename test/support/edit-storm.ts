import { setTimeout as delay } from 'node:timers/promises'
import { applySchedules, pauseSchedules, resumeSchedules } from '@jadwal/db'
import { keys } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, onTestFinished } from 'vitest'
import { checkSightings } from '../ledger/check-sightings.ts'
import { expectHistory } from './expect-order.ts'
import { Kept, pick } from './kept.ts'
import { readHistory } from './read-ledger.ts'
import { JOBS, publishJobs, setupSchedulers } from './schedulers.ts'
import { consumeTicks } from './tick-consumer.ts'

const EDIT_EACH_MS = 100
/** So many that most of a schedule's life is not just after an edit of it. */
const SCHEDULES = 80
/** How long a change may take to be heard of, and what a busy machine may add. */
const REACH_MS = 2_000 + 5_000
const CADENCES = [
  { every: '1s' },
  { every: '2s' },
  { every: '2s', offset: '1s' },
  { every: '3s' },
  { cron: '* * * * * *' },
  { cron: '1-59/2 * * * * *', timezone: 'Asia/Kathmandu' },
] as const

const PAUSE = { author: 'test', reason: null, until: null }

type System = Awaited<ReturnType<typeof setupSchedulers>>

/** A schedule that is edited again and again. */
interface Edited {
  name: string
  input: Record<string, unknown>
  deleted: boolean
}

/**
 * Edits schedules every 100 ms for `stormMs`, while they fire each second and leaders are killed: their
 * cadence, their job and with it their queue; pauses and resumes them, deletes them and makes them again.
 * Each version has its own ticks, once, and a pause holds.
 */
export async function expectEditsToHold(
  stormMs: number,
  { kills }: { kills: number },
): Promise<void> {
  const system = await setupSchedulers({ schedules: 0 })
  const { start, startRecorder, database, redisUrl, prefix, leader } = system
  const other = consumeTicks(redisUrl, prefix, JOBS.other.queue)
  onTestFinished(() => other[Symbol.asyncDispose]())
  const schedules = Array.from({ length: SCHEDULES }, (_, at) => newSchedule(`edited-${at}`))
  await write(system, schedules)
  const schedulers = [new Kept(start), new Kept(start)]
  await Promise.all(
    [startRecorder(), ...schedulers.map(({ service }) => service)].map((s) => s.ready),
  )

  const sinceMs = Date.now()
  let killed = 0
  for (let at = 0; Date.now() < sinceMs + stormMs; at += 1) {
    const schedule = schedules[at % SCHEDULES]
    if (schedule) await edit(system, schedule)
    if (at % 100 === 20) await pauseSchedules(database.db, 'everything', PAUSE)
    if (at % 100 === 50) await resumeSchedules(database.db, 'everything', PAUSE.author)
    if (at % 50 === 35) await swapQueues(system, at % 100 === 35)
    if (killed < kills && Date.now() > sinceMs + (stormMs * (killed + 1)) / (kills + 1)) {
      killed += 1
      await (await leader()).kill()
    }
    await delay(EDIT_EACH_MS)
  }
  expect(killed).toBe(kills)
  const untilMs = Math.floor(Date.now() / 1_000) * 1_000
  const report = await expectHistory(database.db, { untilMs, reachMs: REACH_MS, withinMs: 60_000 })
  expect(report.expected).toBeGreaterThan(SCHEDULES)

  const { rows } = await readHistory(database.db)
  const states = new Set(rows.map(({ state, reason }) => `${state} ${reason}`))
  expect(states).toEqual(new Set(['queued null', 'skipped paused']))
  const handedOut = rows.filter(({ state }) => state === 'queued')
  await eventually(
    () => {
      const sightings = [...system.consumer.sightings, ...other.sightings]
      const seen = new Set(sightings.map((one) => `${one.scheduleId} ${one.tickAtMs}`))
      const unseen = handedOut.filter(
        ({ schedule_id, tick_at }) => !seen.has(`${schedule_id} ${tick_at?.getTime()}`),
      )
      expect(unseen).toEqual([])
      expect(checkSightings([], sightings, untilMs)).toMatchObject({ doubled: [], early: [] })
      const elsewhere = new Set(other.sightings.map(({ scheduleId }) => scheduleId))
      const moved = system.consumer.sightings.filter(({ scheduleId }) => elsewhere.has(scheduleId))
      expect(moved.length).toBeGreaterThan(0)
    },
    { timeoutMs: 60_000, everyMs: 500 },
  )
}

/** The workers of each job move to the queue of the other one, so all schedules do, and later back. */
async function swapQueues({ redis, prefix }: System, isSwapped: boolean): Promise<void> {
  const { noted, other } = JOBS
  const swapped = [
    { name: noted.name, queue: other.queue },
    { name: other.name, queue: noted.queue },
  ]
  await publishJobs(redis, prefix, isSwapped ? swapped : [noted, other])
}

function newSchedule(name: string): Edited {
  const job = pick([JOBS.noted.name, JOBS.other.name])
  return { name, input: { job, overlap: 'allow', ...pick(CADENCES) }, deleted: false }
}

async function edit(system: System, schedule: Edited): Promise<void> {
  const { database } = system
  const { name } = schedule
  const act = schedule.deleted
    ? 'write'
    : pick(['write', 'write', 'write', 'delete', 'pause', 'resume'])
  if (act === 'pause') await pauseSchedules(database.db, { schedule: name }, PAUSE)
  else if (act === 'resume') await resumeSchedules(database.db, { schedule: name }, 'test')
  else {
    Object.assign(schedule, newSchedule(name), { deleted: act === 'delete' })
    schedule.input['paused'] = pick([false, false, false, true])
    await write(system, [schedule])
    return
  }
  await tell(system)
}

async function write(system: System, schedules: readonly Edited[]): Promise<void> {
  await applySchedules(system.database.db, {
    schedules: schedules.filter(({ deleted }) => !deleted),
    remove: { schedules: schedules.filter(({ deleted }) => deleted).map(({ name }) => name) },
    prune: false,
    source: 'file',
    author: 'test',
  })
  await tell(system)
}

async function tell({ redis, prefix }: System): Promise<void> {
  await redis.publish(keys.schedulesChangedChannel(prefix), '')
}
