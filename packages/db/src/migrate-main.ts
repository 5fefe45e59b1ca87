import { migrateCommand } from './migrate-command.ts'

/**
 * The explicit step that brings the schema up to date before the services start:
 * `DATABASE_URL=… node dist/migrate.js`. The address must lead straight to Postgres, not to PgBouncer.
 */
process.exitCode = await migrateCommand(process.env, {
  patienceMs: 30_000,
  say: (line, stream) => void process[stream].write(`${line}\n`),
})
