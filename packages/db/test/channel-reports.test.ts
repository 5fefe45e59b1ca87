import { createTestDatabase } from '@jadwal/testkit'
import { expect, inject, test } from 'vitest'
import { listChannelReports, recordFacts } from '../src/index.ts'
import { after, lines, NOON, runFact, runId } from './facts.ts'

const days = (count: number): Date => new Date(NOON.getTime() + count * 86_400_000)
const message = (channel: string, fact: Parameters<typeof runFact>[0]) =>
  runFact({ queue: 'alerts', labels: { channel }, started_at: after(0), ...fact })

test('of each channel the latest message of thirty days is told, whatever became of it', async () => {
  await using database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  const last = runId(days(2))
  await recordFacts(
    db,
    lines(
      message('ops', { id: runId(days(1)) }),
      message('ops', { id: last, state: 'dead', reason: 'failed' }),
      message('mail', { id: runId(days(1)), state: 'dead', reason: 'failed' }),
      message('mail', { id: runId(days(3)) }),
      message('old', { id: runId(days(-31)) }),
      runFact({ labels: { channel: 'none' } }),
    ),
  )
  const reports = await listChannelReports(db, 'alerts', days(3))
  expect(reports.size).toBe(2)
  expect(reports.get('mail')?.state).toBe('succeeded')
  expect(reports.get('ops')).toMatchObject({ runId: last, state: 'dead' })
})
