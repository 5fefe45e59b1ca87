import { applySchedules, type Db, ensurePartitions, recordFacts } from '@jadwal/db'
import { revision, ScheduleId, tickRunId, type RunFact } from '@jadwal/domain'
import { sql } from 'kysely'
import { setupHistory } from './setup-history.ts'

type History = Awaited<ReturnType<typeof setupHistory>>

/** An api whose history a test fills tick by tick. */
export async function setupTicks() {
  const history = await setupHistory()
  const { db, api } = history
  const idOf = async (name: string): Promise<ScheduleId> => {
    const query = db.selectFrom('schedules').select('id').where('name', '=', name)
    return ScheduleId.parse((await query.executeTakeFirstOrThrow()).id)
  }
  return {
    api,
    db,
    idOf,
    /** Makes the history one that has kept everything from the day before an instant on. */
    keepFrom: (instant: string) =>
      ensurePartitions(db, { now: new Date(instant), daysAhead: 0 }).then(() => undefined),
    apply: (schedules: Record<string, object>, prune = false) => apply(db, schedules, prune),
    /** Gives the versions of a schedule, oldest first, these times to rule. */
    setTimes: (name: string, times: readonly (readonly [string, string | null])[]) =>
      setTimes(db, name, times),
    /** Records what became of a tick; of a range when `about` has its end. */
    recordTick: async (name: string, tickAt: string, about: Partial<RunFact> = {}) =>
      recordTick(history, { name, id: await idOf(name) }, { tickAt, about }),
    [Symbol.asyncDispose]: () => history[Symbol.asyncDispose](),
  }
}

async function apply(db: Db, schedules: Record<string, object>, prune: boolean): Promise<void> {
  const inputs = Object.entries(schedules).map(([name, fields]) => ({
    name,
    input: { job: 'email.send', ...fields },
  }))
  await applySchedules(db, { schedules: inputs, prune, source: 'file', author: 'test' })
}

async function setTimes(
  db: Db,
  name: string,
  times: readonly (readonly [string, string | null])[],
): Promise<void> {
  for (const [at, [from, until]] of times.entries())
    await sql`
      UPDATE ${sql.table('schedule_versions')} SET from_at = ${from}, until_at = ${until}
      WHERE version = ${at + 1}
        AND schedule_id = (SELECT id FROM ${sql.table('schedules')} WHERE name = ${name})`.execute(
      db,
    )
}

async function recordTick(
  { db }: History,
  schedule: { name: string; id: ScheduleId },
  { tickAt, about }: { tickAt: string; about: Partial<RunFact> },
): Promise<string> {
  const state = about.state ?? 'succeeded'
  const attempt = state === 'skipped' ? 0 : 1
  const id = tickRunId(schedule.id, Date.parse(tickAt))
  const fact: RunFact = {
    kind: 'run',
    id,
    revision: revision(attempt, state),
    state,
    job: 'email.send',
    queue: 'emails',
    schedule_id: schedule.id,
    schedule: schedule.name,
    tick_at: tickAt,
    term: 7,
    payload: {},
    enqueued_at: tickAt,
    attempt,
    finished_at: tickAt,
    ...about,
  }
  await recordFacts(db, [JSON.stringify(fact)])
  return id
}
