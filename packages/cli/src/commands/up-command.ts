import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { CommandError } from '../http/api-errors.ts'
import { type Shell, subcommand } from '../session.ts'
import { tellError } from '../show/tell-error.ts'

/** `jadwal up`: what `npm start` does, from wherever one is. */
export function addUpCommand({ terminal, exitWith }: Shell, program: Command): void {
  subcommand(program, 'up', 'Start Redis, Postgres and all services on this machine, until Ctrl-C')
    .addHelpText(
      'after',
      `
Passes its environment on: JADWAL_PORT is the api's, JADWAL_DATA the folder of its data (.jadwal in
the project), REDIS_URL and DATABASE_URL servers that are there already.`,
    )
    .action(async () => {
      try {
        await terminal.become(join(requireProject(), 'infra', 'scripts', 'start.mjs'))
      } catch (error) {
        exitWith(tellError(terminal, error, false))
      }
    })
}

/** The folder of the project that this command is of. */
function requireProject(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  for (let folder = here; folder !== dirname(folder); folder = dirname(folder))
    if (isProject(folder)) return folder
  throw new CommandError(
    'up starts the services from the folder of the project, and this command lies outside of it. Run "npx jadwal up" or "npm start" in a clone of Jadwal, or "docker compose up" beside its docker-compose.yml.',
  )
}

function isProject(folder: string): boolean {
  const manifest = join(folder, 'package.json')
  if (!existsSync(join(folder, 'infra', 'scripts', 'start.mjs')) || !existsSync(manifest))
    return false
  const { name } = JSON.parse(readFileSync(manifest, 'utf8')) as { name?: string }
  return name === 'jadwal'
}
