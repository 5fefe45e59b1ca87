import { type Kysely, type RawBuilder, sql } from 'kysely'
import { CHANGED_RUN, countEnds, ENDED_BEFORE, haveRetries } from './count-ends.ts'
import type { Database } from './database.ts'
import { MERGE_ATTEMPT, weightOf } from './merge-attempt.ts'
import { upsertAudit } from './record-audit.ts'
import { TOLD_COLUMNS, type ToldRun, toldRuns } from './told-run.ts'

/** How many rows really changed. */
export interface RecordedFacts {
  runs: number
  attempts: number
  terms: number
  letters: number
  audits: number
  /** What became of runs, when asked for. */
  told?: ToldRun[] | null
}

/** The columns of a fact. Those of `runs` first; a fact's keys are its columns. */
const RUN_COLUMNS = {
  id: 'uuid',
  revision: 'int',
  state: 'text',
  reason: 'text',
  job: 'text',
  queue: 'text',
  schedule_id: 'uuid',
  schedule: 'text',
  tick_at: 'timestamptz',
  tick_until: 'timestamptz',
  tick_count: 'int',
  term: 'bigint',
  payload: 'jsonb',
  labels: 'jsonb',
  priority: 'int',
  enqueued_at: 'timestamptz',
  run_at: 'timestamptz',
  attempt: 'int',
  worker: 'text',
  started_at: 'timestamptz',
  finished_at: 'timestamptz',
  result: 'jsonb',
  error: 'jsonb',
  redrive_of: 'uuid',
  backfill_id: 'uuid',
  late_due_at: 'timestamptz',
  parent_id: 'uuid',
  idempotency_key: 'text',
  concurrency_key: 'text',
  fingerprint: 'text',
  search: 'text',
} as const
const OTHER_COLUMNS = {
  kind: 'text',
  attempt_state: 'text',
  attempt_finished_at: 'timestamptz',
  log: 'jsonb',
  letter: 'jsonb',
  audit: 'jsonb',
  instance: 'text',
  from_at: 'timestamptz',
  until_at: 'timestamptz',
} as const

/**
 * Brings facts, each a line of JSON, into the history, in one statement. Facts may come in any order,
 * any number of times, through any number of recorders: what is older than what Postgres has changes
 * nothing. Rows are written in the order of their ids, so that two recorders never wait for each other
 * in a circle.
 *
 * Throws what Postgres throws; `refusedFact` tells a wrong fact from an outage. Either way none of
 * these facts is recorded then.
 */
export async function recordFacts(
  db: Kysely<Database>,
  lines: readonly string[],
  { tell = false }: { tell?: boolean } = {},
): Promise<RecordedFacts> {
  const facts = `[${lines.join(',')}]`
  const told = tell ? sql`, ${toldRuns()} AS "told"` : sql``
  const { rows } = await sql<RecordedFacts>`
    WITH fact AS MATERIALIZED (SELECT * FROM json_to_recordset(${facts}::json) AS fact(${FACT_FORM})),
    changed_run AS (${upsertRuns(tell)}),
    counted AS (${countEnds(haveRetries(lines))}),
    changed_attempt AS (${upsertAttempts()}),
    changed_term AS (${upsertTerms()}),
    changed_letter AS (${insertLetters()}),
    changed_audit AS (${upsertAudit()})
    SELECT
      (SELECT count(*) FROM changed_run) AS "runs",
      (SELECT count(*) FROM changed_attempt) AS "attempts",
      (SELECT count(*) FROM changed_term) AS "terms",
      (SELECT count(*) FROM changed_letter) AS "letters",
      (SELECT count(*) FROM changed_audit) AS "audits"${told}`.execute(db)
  return rows[0] ?? { runs: 0, attempts: 0, terms: 0, letters: 0, audits: 0 }
}

// A jsonb column in the record form costs twice as much as a json one that is cast afterwards.
const FACT_FORM = sql.raw(
  Object.entries({ ...RUN_COLUMNS, ...OTHER_COLUMNS })
    .map(([name, type]) => `"${name}" ${type === 'jsonb' ? 'json' : type}`)
    .join(', '),
)
/** A tick that was skipped is never late, nor one whose run succeeded or was cancelled by then: nobody has to watch it. */
const LATE_DUE_AT = `CASE WHEN state = 'skipped'
  OR (state IN ('succeeded', 'cancelled') AND finished_at <= late_due_at) THEN NULL ELSE late_due_at END`
const RUN_VALUES = sql.raw(
  Object.entries(RUN_COLUMNS)
    .map(([name, type]) => {
      if (name === 'late_due_at') return LATE_DUE_AT
      return type === 'jsonb' ? `"${name}"::jsonb` : `"${name}"`
    })
    .join(', '),
)
const RUN_NAMES = Object.keys(RUN_COLUMNS)
const RUN_LIST = sql.raw(RUN_NAMES.map((name) => `"${name}"`).join(', '))
const RUN_UPDATE = sql.raw(
  RUN_NAMES.filter((name) => name !== 'id')
    .map((name) => `"${name}" = excluded."${name}"`)
    .join(', '),
)

/** A fact of a kind that is not known lands here too, for the constraints to refuse it. */
function upsertRuns(tell: boolean): RawBuilder<unknown> {
  const returned = tell ? sql`${CHANGED_RUN}, ${TOLD_COLUMNS}` : CHANGED_RUN
  return sql`
    INSERT INTO ${sql.table('runs')} AS r (${RUN_LIST})
    SELECT DISTINCT ON (id) ${RUN_VALUES} FROM fact
    WHERE kind IS NULL OR kind NOT IN ('attempt', 'term', 'letter', 'audit')
    ORDER BY id, revision DESC
    ON CONFLICT (id) DO UPDATE SET ${RUN_UPDATE}, recorded_at = now(), ${ENDED_BEFORE}
    WHERE r.revision < excluded.revision
    RETURNING ${returned}`
}

/**
 * Attempts in any order. A first attempt that succeeded within a second and logged nothing,
 * the commonest, is left to its run's row; one that took longer may have a `running` row, which has to end.
 */
function upsertAttempts(): RawBuilder<unknown> {
  return sql`
    INSERT INTO ${sql.table('attempts')} AS a
      (run_id, attempt, state, worker, started_at, finished_at, error, log)
    SELECT id, attempt,
      (array_agg(attempt_state ORDER BY w DESC))[1],
      (array_agg(worker ORDER BY w DESC) FILTER (WHERE worker IS NOT NULL))[1],
      (array_agg(started_at ORDER BY w DESC) FILTER (WHERE started_at IS NOT NULL))[1],
      (array_agg(attempt_finished_at ORDER BY w DESC))[1],
      (array_agg(error::jsonb ORDER BY w DESC))[1],
      (array_agg(log::jsonb ORDER BY w DESC))[1]
    FROM (
      SELECT id, attempt, attempt_state, worker, started_at, attempt_finished_at, error, log,
        ${weightOf('attempt_state')} AS w
      FROM fact
      WHERE attempt_state IS NOT NULL AND attempt >= 1 AND (attempt > 1 OR attempt_state <> 'succeeded'
        OR attempt_finished_at - started_at > interval '0.9 seconds' OR log IS NOT NULL)
    ) AS told
    GROUP BY id, attempt ORDER BY id, attempt
    ${MERGE_ATTEMPT}
    RETURNING 1`
}

/** A term that has ended stays so; its leader's own word on why is worth more than that it was found expired. */
function upsertTerms(): RawBuilder<unknown> {
  return sql`
    INSERT INTO ${sql.table('leader_terms')} AS t (term, instance, from_at, until_at, reason)
    SELECT DISTINCT ON (term) term, instance, from_at, until_at, reason FROM fact
    WHERE kind = 'term'
    ORDER BY term, (until_at IS NOT NULL) DESC, reason <> 'expired' DESC NULLS LAST
    ON CONFLICT (term) DO UPDATE SET until_at = excluded.until_at, reason = excluded.reason
    WHERE (t.until_at IS NULL AND excluded.until_at IS NOT NULL)
      OR (t.reason = 'expired' AND excluded.reason <> 'expired')
    RETURNING 1`
}

/** What was decided first about a dead letter holds. */
function insertLetters(): RawBuilder<unknown> {
  return sql`
    INSERT INTO ${sql.table('settled_letters')}
      (run_id, settled_at, settled_by, redriven_as, discard_reason, redrive_id)
    SELECT DISTINCT ON (id) id, (letter ->> 'at')::timestamptz, letter ->> 'by',
      (letter ->> 'redrivenAs')::uuid, letter ->> 'reason', (letter ->> 'redrive')::uuid
    FROM fact WHERE kind = 'letter'
    ORDER BY id, (letter ->> 'at')::timestamptz
    ON CONFLICT (run_id) DO NOTHING
    RETURNING 1`
}
