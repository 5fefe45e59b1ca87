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

/** Creates or replaces. Its revision, 1 for a new one, grows with each. */
export async function putAlertSetting(
  db: Db,
  table: AlertSettingTable,
  { name, spec, author, until }: AlertSetting,
): Promise<AlertSettingRow> {
  const values = {
    spec: JSON.stringify(spec),
    author,
    changed_at: db.fn<Date>('clock_timestamp', []),
    ...(until === undefined ? {} : { until_at: until }),
  }
  return await db
    .insertInto(table as 'alert_rules')
    .values({ name, revision: 1, ...values })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((eb) => ({
        ...values,
        revision: eb(`${table as 'alert_rules'}.revision`, '+', 1),
      })),
    )
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** False when there was none. */
export async function deleteAlertSetting(
  db: Db,
  table: AlertSettingTable,
  name: string,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom(table as 'alert_rules')
    .where('name', '=', name)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
