import { openDatabase, recordFacts } from '@jadwal/db'
import { newRunId, revision, type RunFact, type RunState, systemClock } from '@jadwal/domain'
import { publishCatalogue } from '@jadwal/queue'
import { randomBytes } from 'node:crypto'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi } from './setup-api.ts'

/** An api with a catalogue, and a way to write to its history. */
export async function setupHistory() {
  const api = await setupApi()
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
  const db = openDatabase({ url: api.databaseUrl, schema: 'jadwal', max: 2 })
  const record = async (fact: RunFact): Promise<void> => {
    await recordFacts(db, [JSON.stringify(fact)])
  }
  return {
    api,
    db,
    record,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await api[Symbol.asyncDispose]()
    },
  }
}

/** A fact of a run, as a worker writes it. */
export function factOf(state: RunState, about: Partial<RunFact> = {}): RunFact {
  const attempt = about.attempt ?? 1
  const now = systemClock.now()
  const ended = state === 'succeeded' || state === 'dead'
  return {
    kind: 'run',
    id: newRunId(now.getTime(), randomBytes(10)),
    revision: revision(attempt, state),
    state,
    job: 'email.send',
    queue: 'emails',
    payload: { to: 'ana@example.com' },
    result: null,
    priority: 0,
    enqueued_at: now.toISOString(),
    started_at: now.toISOString(),
    ...(ended ? { finished_at: now.toISOString(), attempt_finished_at: now.toISOString() } : {}),
    worker: 'worker-1',
    attempt,
    attempt_state: state === 'dead' ? 'failed' : state === 'succeeded' ? 'succeeded' : 'running',
    ...about,
  }
}
