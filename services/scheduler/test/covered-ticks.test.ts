import { changeBackfillState, findBackfill, recordFacts } from '@jadwal/db'
import { backfillRunId, redriveRunId, type RunState, revision, tickRunId } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { at, setupBackfills } from './setup-backfills.ts'

async function setup() {
  const t = await setupBackfills()
  /** Writes a run of that tick into the history: of the schedule itself, or of a backfill. */
  const record = async (minutes: number, state: RunState, backfillId?: string): Promise<string> => {
    const tickAtMs = at(minutes).getTime()
    const backfill = backfillId === undefined ? undefined : await findBackfill(t.db, backfillId)
    const id = backfill
      ? backfillRunId({ id: backfill.id, createdAtMs: backfill.created_at.getTime() }, tickAtMs)
      : tickRunId(t.scheduleId, tickAtMs)
    const ended = state === 'succeeded' || state === 'dead' || state === 'cancelled'
    const fact = {
      kind: 'run',
      id,
      revision: revision(1, state),
      state,
      job: 'report',
      queue: 'reports',
      schedule_id: t.scheduleId,
      tick_at: at(minutes).toISOString(),
      ...(backfill ? { backfill_id: backfill.id } : {}),
      payload: {},
      enqueued_at: at(minutes).toISOString(),
      attempt: 1,
      ...(ended ? { finished_at: at(minutes).toISOString() } : {}),
    }
    await recordFacts(t.db, [JSON.stringify(fact)])
    return id
  }
  /** Writes the run that a redrive made of a dead one. */
  const recordRedriven = async (deadId: string, state: RunState): Promise<string> => {
    const old = await t.db
      .selectFrom('runs')
      .select(['schedule_id', 'tick_at'])
      .where('id', '=', deadId)
      .executeTakeFirstOrThrow()
    const ended = state === 'succeeded' || state === 'dead'
    const fact = {
      kind: 'run',
      id: redriveRunId(deadId),
      revision: revision(1, state),
      state,
      job: 'report',
      queue: 'reports',
      schedule_id: old.schedule_id,
      tick_at: old.tick_at,
      payload: {},
      redrive_of: deadId,
      enqueued_at: at(60).toISOString(),
      attempt: 1,
      ...(ended ? { finished_at: at(60).toISOString() } : {}),
    }
    await recordFacts(t.db, [JSON.stringify(fact)])
    return fact.id
  }
  return { ...t, record, recordRedriven }
}

test('ticks whose own run is unfinished are passed over, those whose run died or was cancelled are not', async () => {
  const { lead, backfill, finish, record, state } = await setup()
  await record(1, 'running')
  await record(2, 'retrying')
  await record(3, 'dead')
  await record(4, 'queued')
  await record(5, 'cancelled')
  const id = await backfill({ concurrency: 100 })
  await lead(1).round()
  expect(await finish(id)).toEqual([0, 3, 5, 6, 7, 8, 9])
  expect(await state(id)).toMatchObject({ enqueued: 7, skipped: 3 })
})

test('a success of an earlier backfill counts, and so does its unfinished run', async () => {
  const { lead, backfill, finish, record } = await setup()
  const first = await backfill({ state: 'paused' })
  await record(1, 'succeeded', first)
  await record(2, 'running', first)
  await record(3, 'retrying', first)
  await record(4, 'dead', first)
  const second = await backfill({ concurrency: 100 })
  await lead(1).round()
  expect(await finish(second)).toEqual([0, 4, 5, 6, 7, 8, 9])
})

test('a run that still waits of a cancelled backfill does not count, one that runs does', async () => {
  const { lead, backfill, finish, record, db } = await setup()
  const first = await backfill({ state: 'paused' })
  await record(1, 'queued', first)
  await record(2, 'running', first)
  await changeBackfillState(db, first, { from: ['paused'], to: 'cancelled', at: at(0) })
  const second = await backfill({ concurrency: 100 })
  await lead(1).round()
  expect(await finish(second)).toEqual([0, 1, 3, 4, 5, 6, 7, 8, 9])
})

test('a tick whose run died counts when the run that a redrive made of it has succeeded or may yet', async () => {
  const { lead, backfill, finish, record, recordRedriven } = await setup()
  const first = await backfill({ state: 'paused' })
  await recordRedriven(await record(1, 'dead'), 'succeeded')
  await recordRedriven(await record(2, 'dead'), 'running')
  await recordRedriven(await record(3, 'dead'), 'dead')
  await recordRedriven(await recordRedriven(await record(4, 'dead'), 'dead'), 'succeeded')
  await recordRedriven(await record(5, 'dead', first), 'succeeded')
  const second = await backfill({ concurrency: 100 })
  await lead(1).round()
  expect(await finish(second)).toEqual([0, 3, 6, 7, 8, 9])
})
