import { AlertState, DAY, firstUuidAt, isOver, RunState } from '@jadwal/domain'
import { sql } from 'kysely'
import { decodeInstantCursor, encodeInstantCursor } from './cursor.ts'
import type { Db, RunRow } from './database.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'

const AT_ONCE = 500
/** Ended alerts are kept for so long, and ended silences. */
const KEPT_DAYS = 90
const DELETED_AT_ONCE = 10_000
/** How channels fare is told from the messages of so many days. */
const REPORTED_DAYS = 30
const REPORTS_LOOKED_AT = 1_000

/** Writes alerts as they are now, unless a later form of one is there already. Those that are pending have no row. */
export async function recordAlerts(db: Db, states: readonly AlertState[]): Promise<void> {
  const told = states.filter(({ phase }) => phase !== 'pending')
  for (let from = 0; from < told.length; from += AT_ONCE) {
    const rows = told.slice(from, from + AT_ONCE).map((state) => ({
      id: state.id,
      rule: state.rule,
      group_key: state.group.key,
      since: new Date(state.sinceMs),
      changed_at: new Date(state.changedMs),
      last_sent_at: state.lastSentMs === undefined ? null : new Date(state.lastSentMs),
      sent: state.sent,
      count: state.group.count,
      closed_at: isOver(state) ? new Date(state.closedMs ?? state.changedMs) : null,
      state: JSON.stringify(state),
    }))
    await db
      .insertInto('alert_states')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet((eb) => ({
            changed_at: eb.ref('excluded.changed_at'),
            last_sent_at: eb.ref('excluded.last_sent_at'),
            sent: eb.ref('excluded.sent'),
            count: eb.ref('excluded.count'),
            closed_at: eb.ref('excluded.closed_at'),
            state: eb.ref('excluded.state'),
          }))
          .whereRef('alert_states.changed_at', '<=', 'excluded.changed_at')
          .where('alert_states.closed_at', 'is', null),
      )
      .execute()
  }
}

/** The alerts of which something is left to be told. Served by alert_states_unfinished_idx. */
export async function listUnfinishedAlerts(db: Db): Promise<AlertState[]> {
  const rows = await db
    .selectFrom('alert_states')
    .select('state')
    .where('closed_at', 'is', null)
    .limit(10_000)
    .execute()
  return readAll(rows)
}

export interface AlertFilters {
  state?: 'open' | 'closed'
  rule?: string
}

/** Open and ended alerts, those first that began last. Served by alert_states_since_idx. Throws BadCursorError. */
export async function listAlerts(
  db: Db,
  { state, rule }: AlertFilters,
  page: PageRequest,
): Promise<Page<AlertState>> {
  const limit = pageLimit(page)
  let query = db
    .selectFrom('alert_states')
    .select(['id', 'since', 'state'])
    .orderBy('since', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (state !== undefined)
    query = query.where('closed_at', state === 'open' ? 'is' : 'is not', null)
  if (rule !== undefined) query = query.where('rule', '=', rule)
  if (page.cursor !== undefined) {
    const { at, id } = decodeInstantCursor(page.cursor)
    query = query.where((eb) => eb(eb.refTuple('since', 'id'), '<', eb.tuple(at, id)))
  }
  const { items, nextCursor } = pageOf(await query.execute(), limit, (last) =>
    encodeInstantCursor(last.since, last.id),
  )
  return { items: readAll(items), nextCursor }
}

function readAll(rows: readonly { state: unknown }[]): AlertState[] {
  return rows.flatMap(({ state }) => {
    const read = AlertState.safeParse(state)
    return read.success ? [read.data] : []
  })
}

/** Deletes alerts and silences that ended 90 days before `now`, some at a time. */
export async function deleteOldAlerts(db: Db, now: Date): Promise<void> {
  const before = sql<Date>`${now}::timestamptz - make_interval(days => ${KEPT_DAYS})`
  const old = db
    .selectFrom('alert_states')
    .select('id')
    .where('since', '<', before)
    .where('closed_at', '<', before)
    .limit(DELETED_AT_ONCE)
  await db.deleteFrom('alert_states').where('id', 'in', old).execute()
  await db.deleteFrom('alert_silences').where('until_at', '<', before).execute()
}

/** How the latest message of a channel fared. */
export interface ChannelReport {
  runId: string
  state: string
  attempt: number
  at: Date
  error: string | null
}

/**
 * The latest run of each channel that sent or failed to within 30 days before `now`, by channel; of each state
 * the latest 1,000 are looked at. Served by runs_queue_state_idx, which has few runs of the queue of alerts.
 */
export async function listChannelReports(
  db: Db,
  queue: string,
  now: Date,
): Promise<Map<string, ChannelReport>> {
  const first = firstUuidAt(now.getTime() - REPORTED_DAYS * DAY)
  // A state at a time, so that the index has them in order: by queue alone whole days would be read.
  const { rows } = await sql<ReportRow>`
    SELECT latest.* FROM unnest(${[...RunState.options]}::text[]) AS states (name), LATERAL (
      SELECT id, state, attempt, labels, error, recorded_at
      FROM ${sql.table('runs')}
      WHERE queue = ${queue} AND state = states.name AND id >= ${first}
      ORDER BY id DESC LIMIT ${REPORTS_LOOKED_AT}
    ) AS latest ORDER BY latest.id`.execute(db)
  const reports = new Map<string, ChannelReport>()
  for (const { id, state, attempt, labels, error, recorded_at: at } of rows) {
    const channel = labels?.['channel']
    if (channel !== undefined)
      reports.set(channel, { runId: id, state, attempt, at, error: error?.message ?? null })
  }
  return reports
}

type ReportRow = Pick<RunRow, 'id' | 'state' | 'attempt' | 'labels' | 'error' | 'recorded_at'>
