import { type Finding, findingIf, MOST_SKEW_MS } from './finding.ts'

/** What was seen of a Postgres and of Jadwal's tables in it. */
export interface PostgresHealth {
  /** Such as 160004. */
  versionNumber: number
  maxConnections: number
  /** Of those, for superusers alone. */
  reservedConnections: number
  connections: number
  /** Of those, the ones of Jadwal. */
  ownConnections: number
  /** Of a statement that does nothing, in ms. */
  latencyMs: number
  /** How far its clock is ahead of that of whoever looked, in ms. */
  skewMs: number
  /** Names of migrations that were not run. */
  pendingMigrations: readonly string[]
  /** Tables that have no partition for tomorrow. */
  withoutTomorrow: readonly string[]
  /** Rows of `runs` that lie in no day's partition, as far as they were counted. */
  defaultRows: number
}

const LEAST_VERSION = 150_000
const MANY_DEFAULT_ROWS = 10_000

/** What is wrong with a Postgres, and what cures it. */
export function judgePostgres(postgres: PostgresHealth): Finding[] {
  const { maxConnections, reservedConnections, connections, ownConnections } = postgres
  const budget = maxConnections - reservedConnections
  const use = connections / budget
  return [
    findingIf(postgres.versionNumber < LEAST_VERSION, 'broken', {
      check: 'postgres.version',
      found: `Postgres ${Math.floor(postgres.versionNumber / 10_000)}.${postgres.versionNumber % 10_000}`,
      cure: 'Jadwal needs Postgres 15 or later: upgrade it.',
    }),
    findingIf(use > 0.8, use > 0.95 ? 'broken' : 'warning', {
      check: 'postgres.connections',
      found: `${connections} of ${budget} connections in use, ${ownConnections} of them Jadwal's`,
      cure: 'Raise max_connections, make the pools of the services smaller, or put PgBouncer (transaction mode) before it.',
    }),
    findingIf(postgres.pendingMigrations.length > 0, 'broken', {
      check: 'postgres.migrations',
      found:
        postgres.pendingMigrations.length === 0
          ? 'migrations are up to date'
          : `not run: ${postgres.pendingMigrations.join(', ')}`,
      cure: 'Run the migrations ("npm start" does; with containers the service "migrate") before the new services.',
    }),
    findingIf(postgres.withoutTomorrow.length > 0, 'broken', {
      check: 'postgres.partitions',
      found:
        postgres.withoutTomorrow.length === 0
          ? 'the partitions of tomorrow are there'
          : `no partition for tomorrow: ${postgres.withoutTomorrow.join(', ')}`,
      cure: 'The leader makes them each hour: see whether one leads and what its log says. Until then rows go to the default partition, and nothing is lost.',
    }),
    findingIf(postgres.defaultRows > MANY_DEFAULT_ROWS, 'warning', {
      check: 'postgres.default-partition',
      found: `${postgres.defaultRows > MANY_DEFAULT_ROWS ? `more than ${MANY_DEFAULT_ROWS}` : postgres.defaultRows} rows of runs in the default partition`,
      cure: 'Runs of days whose partition was missing, or that live very long. Searches slow down with it: see what those runs are.',
    }),
    findingIf(postgres.latencyMs > 50, 'warning', {
      check: 'postgres.latency',
      found: `a statement takes ${Math.round(postgres.latencyMs * 100) / 100} ms`,
      cure: 'Recorders fall behind when it is slow: look at its CPU, its disk and pg_stat_activity.',
    }),
    findingIf(Math.abs(postgres.skewMs) > MOST_SKEW_MS, 'warning', {
      check: 'postgres.clock',
      found: `its clock is ${Math.abs(Math.round(postgres.skewMs))} ms ${postgres.skewMs >= 0 ? 'ahead of' : 'behind'} this host's`,
      cure: 'Let both hosts keep time by NTP (chrony, systemd-timesyncd).',
    }),
  ]
}
