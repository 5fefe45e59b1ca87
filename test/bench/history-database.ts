import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import { type Db, migrate, openDatabase } from '@jadwal/db'
import { DAY, firstUuidAt } from '@jadwal/domain'
import { type EmbeddedPostgres, startPostgres } from '@jadwal/embedded'
import { makeTempFolder, removeTempFolder } from '@jadwal/testkit'
import { sql } from 'kysely'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import {
  ATTEMPT_COLUMNS,
  dayLines,
  DAYS,
  dayStart,
  RUN_COLUMNS,
  SCHEDULES,
} from './history-rows.ts'

/** Long before the first day, so that the days that migrating makes are none of ours. */
const MIGRATED_AT = new Date(Date.UTC(2020, 0, 1))
/** Settings as in production; the whole does not fit into these buffers. */
const SETTINGS = { shared_buffers: '256MB', max_wal_size: '4GB', maintenance_work_mem: '256MB' }

export interface HistoryDatabase extends AsyncDisposable {
  readonly url: string
  /** Ends and starts Postgres: its own buffers are empty then. */
  restart(): Promise<void>
}

/**
 * A Postgres with a history of so many runs over 30 days. With a folder of its own to keep it in, it
 * is made once and found there the next time.
 */
export async function openHistory(
  rows: number,
  kept: string | undefined,
): Promise<HistoryDatabase> {
  const folder = kept ?? makeTempFolder('history')
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const start = (): Promise<EmbeddedPostgres> =>
    startPostgres({
      folder: join(folder, 'data'),
      password: 'jadwal',
      database: 'jadwal',
      logFile: join(folder, 'postgres.log'),
      settings: SETTINGS,
    })
  let postgres = await start()
  await fill(postgres.url, rows)
  return {
    get url() {
      return postgres.url
    },
    async restart() {
      await postgres.stop()
      postgres = await start()
    },
    async [Symbol.asyncDispose]() {
      await postgres.stop()
      if (kept === undefined) removeTempFolder(folder)
    },
  }
}

async function fill(url: string, rows: number): Promise<void> {
  await migrate({ url, schema: 'jadwal', now: MIGRATED_AT })
  const db = openDatabase({ url, schema: 'jadwal', max: 1, queryTimeoutMs: 0 })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await insertSchedules(db)
  for (let day = 0; day < DAYS; day++) {
    if (await isThere(db, day)) continue
    await fillDay(client, db, { day, rows: Math.round(rows / DAYS) })
    process.stderr.write(`day ${day + 1} of ${DAYS} is there\n`)
  }
  await client.end()
  await db.destroy()
}

async function insertSchedules(db: Db): Promise<void> {
  await sql`INSERT INTO ${sql.table('schedules')} (id, name, source, revision, created_at, changed_at)
    SELECT id, 'schedule-' || (n - 1), 'api', 1, now(), now()
    FROM unnest(${SCHEDULES}::uuid[]) WITH ORDINALITY AS s(id, n) ON CONFLICT DO NOTHING`.execute(
    db,
  )
}

function nameOf(table: string, day: number): string {
  return `${table}_${new Date(dayStart(day)).toISOString().slice(0, 10).replaceAll('-', '')}`
}

async function isThere(db: Db, day: number): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`
    SELECT EXISTS (SELECT FROM pg_inherits
      WHERE inhrelid = to_regclass(${`jadwal.${nameOf('attempts', day)}`})) AS there`.execute(db)
  return rows[0]?.there === true
}

/** Rows first, indexes with the attaching: filling indexes row by row takes several times as long. */
async function fillDay(
  client: pg.Client,
  db: Db,
  { day, rows }: { day: number; rows: number },
): Promise<void> {
  const attempts: string[] = []
  const range = [firstUuidAt(dayStart(day)), firstUuidAt(dayStart(day) + DAY)] as const
  function* runs(): Generator<string> {
    let chunk = ''
    for (const line of dayLines({ day, rows })) {
      attempts.push(line.attempts)
      chunk += line.run
      if (chunk.length > 500_000) {
        yield chunk
        chunk = ''
      }
    }
    yield chunk
  }
  for (const [table, columns, lines] of [
    ['runs', RUN_COLUMNS, runs()],
    ['attempts', ATTEMPT_COLUMNS, attempts],
  ] as const) {
    const name = sql.table(nameOf(table, day))
    await sql`DROP TABLE IF EXISTS ${name}`.execute(db)
    await sql`CREATE TABLE ${name} (LIKE ${sql.table(table)}
      INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`.execute(db)
    const copy = client.query(copyFrom(`COPY jadwal.${nameOf(table, day)} (${columns}) FROM STDIN`))
    await pipeline(Readable.from(lines), copy)
    await sql`ALTER TABLE ${sql.table(table)} ATTACH PARTITION ${name}
      FOR VALUES FROM (${sql.lit(range[0])}) TO (${sql.lit(range[1])})`.execute(db)
    await sql`VACUUM (ANALYZE) ${name}`.execute(db)
  }
}
