import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { EXIT } from '@jadwal/runtime'
import type { SupervisorConfig } from './config.ts'
import { onEachLine } from './line-splitter.ts'
import { StartFailedError } from './start-failed-error.ts'
import type { Terminal } from './terminal.ts'

/** Brings the database up to date. Throws `StartFailedError` with what the migration said. */
export async function runMigrations(
  config: SupervisorConfig,
  databaseUrl: string,
  terminal: Terminal,
): Promise<void> {
  const file = join(config.projectRoot, 'packages', 'db', 'dist', 'migrate.js')
  const child = spawn(process.execPath, ['--enable-source-maps', file], {
    cwd: config.projectRoot,
    env: { ...config.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    onEachLine(stream, (line) => {
      said.push(line)
      terminal.line('migrate', line)
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  if (code === 0) return
  throw new StartFailedError(`the migration failed:\n${said.join('\n')}`, code ?? EXIT.software)
}
