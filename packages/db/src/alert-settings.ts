import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { AlertSettingRow } from './alert-tables.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import type { Db } from './database.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'

/** The tables of what people set about alerts, each row with a name. */
export type AlertSettingTable = 'alert_rules' | 'alert_channels' | 'alert_silences'

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/
const COLUMNS = ['name', 'spec', 'author', 'revision', 'changed_at'] as const

/** Rules, channels or silences by name. Throws BadCursorError. */
export async function listAlertSettings(
  db: Db,
  table: AlertSettingTable,
  page: PageRequest,
): Promise<Page<AlertSettingRow>> {
  const limit = pageLimit(page)
  let query = db
    .selectFrom(table as 'alert_rules')
    .select(COLUMNS)
    .orderBy('name')
    .limit(limit + 1)
  if (page.cursor !== undefined) query = query.where('name', '>', decodeCursor(page.cursor, NAME))
  return pageOf(await query.execute(), limit, (last) => encodeCursor(last.name))
}

export async function findAlertSetting(
  db: Db,
  table: AlertSettingTable,
  name: string,
): Promise<AlertSettingRow | undefined> {
  return await db
    .selectFrom(table as 'alert_rules')
    .select(COLUMNS)
    .where('name', '=', name)
    .executeTakeFirst()
}

export interface AlertSetting {
  name: string
  spec: object
  author: string
  /** Of a silence. */
  until?: Date
}

/** A setting right before a change and right after it: the same row where nothing was to be changed. */
export interface ChangedAlertSetting {
  before: AlertSettingRow | undefined
  after: AlertSettingRow
}

/**
 * Creates or replaces. Its revision, 1 for a new one, grows with each change; the same again changes
 * nothing. `make` is told what is there, which nobody changes meanwhile, and may throw.
 */
export async function putAlertSetting(
  db: Db,
  table: AlertSettingTable,
  {
    name,
    make,
  }: { name: string; make: (before: object | undefined) => Omit<AlertSetting, 'name'> },
): Promise<ChangedAlertSetting> {
  return await db.transaction().execute(async (tx) => {
    await lockName(tx, table, name)
    const before = await findAlertSetting(tx, table, name)
    const { spec, author, until } = make(before?.spec)
    const text = JSON.stringify(spec)
    if (before && isDeepStrictEqual(before.spec, JSON.parse(text))) return { before, after: before }
    const values = {
      spec: text,
      author,
      revision: (before?.revision ?? 0) + 1,
      changed_at: tx.fn<Date>('clock_timestamp', []),
      ...(until === undefined ? {} : { until_at: until }),
    }
    const after = await tx
      .insertInto(table as 'alert_rules')
      .values({ name, ...values })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
      .returning(COLUMNS)
      .executeTakeFirstOrThrow()
    return { before, after }
  })
}

/** What it was; undefined when there was none. */
export async function deleteAlertSetting(
  db: Db,
  table: AlertSettingTable,
  name: string,
): Promise<AlertSettingRow | undefined> {
  return await db.transaction().execute(async (tx) => {
    await lockName(tx, table, name)
    return await tx
      .deleteFrom(table as 'alert_rules')
      .where('name', '=', name)
      .returning(COLUMNS)
      .executeTakeFirst()
  })
}

/** Also of one that is not there, which no lock on a row could be of. Until the transaction ends. */
async function lockName(tx: Db, table: AlertSettingTable, name: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtext(${`jadwal ${table} ${name}`}))`.execute(tx)
}
