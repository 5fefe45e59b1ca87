import { createTestDatabase } from '@jadwal/testkit'
import { inject, onTestFinished } from 'vitest'
import { applySchedules, planSchedules, type ScheduleChanges } from '../src/index.ts'

type Specs = Record<string, Record<string, unknown>>

export const HOURLY = { job: 'report.generate', cron: '0 * * * *', payload: { kind: 'hourly' } }
export const DAILY = { ...HOURLY, cron: '0 6 * * *' }
export const NONE = { added: [], changed: [], removed: [], unchanged: [], foreign: [] }

/** A database, and ways to apply and plan schedules by name. */
export async function setupChanges() {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { db } = database
  return {
    db,
    apply: (specs: Specs, changes: Partial<ScheduleChanges> = {}) =>
      applySchedules(db, changesOf(specs, changes)),
    plan: (specs: Specs, changes: Partial<ScheduleChanges> = {}) =>
      planSchedules(db, changesOf(specs, changes)),
  }
}

export function given(specs: Specs): { name: string; input: Record<string, unknown> }[] {
  return Object.entries(specs).map(([name, input]) => ({ name, input }))
}

function changesOf(specs: Specs, changes: Partial<ScheduleChanges>): ScheduleChanges {
  return {
    schedules: given(specs),
    prune: false,
    source: 'file',
    author: 'schedules.yaml',
    ...changes,
  }
}
