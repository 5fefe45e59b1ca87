import { DAY, type Retention } from '@jadwal/domain'
import { createTestDatabase } from '@jadwal/testkit'
import { sql } from 'kysely'
import { inject, onTestFinished } from 'vitest'
import { type Db, ensurePartitions } from '../src/index.ts'
import { NOON } from './facts.ts'

export const days = (count: number): Date => new Date(NOON.getTime() + count * DAY)

/** A database with a partition for the day of the facts. */
export async function setup(): Promise<Db> {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  await ensurePartitions(database.db, { now: NOON, daysAhead: 0 })
  return database.db
}

export const keeping = (retention: Retention, job = 'email.send') => [{ job, retention }]
export const endedAt = (count: number) => ({ finished_at: days(count).toISOString() })

/** Where a run and its attempts lie. */
export async function tableOf(db: Db, id: string): Promise<string[]> {
  const { rows } = await sql<{ table: string }>`
    SELECT tableoid::regclass::text AS table FROM jadwal.runs WHERE id = ${id}
    UNION ALL SELECT tableoid::regclass::text FROM jadwal.runs_kept WHERE id = ${id}
    UNION ALL SELECT tableoid::regclass::text FROM jadwal.attempts WHERE run_id = ${id}
    UNION ALL SELECT tableoid::regclass::text FROM jadwal.attempts_kept WHERE run_id = ${id}
    ORDER BY 1`.execute(db)
  return rows.map(({ table }) => table)
}

export const DAY_OF_NOON = {
  table: 'runs_20260901',
  startMs: Math.floor(NOON.getTime() / DAY) * DAY,
}
export const KEPT = ['jadwal.attempts_kept', 'jadwal.runs_kept']
