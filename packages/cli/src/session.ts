import type { Command } from 'commander'
import { Api } from './http/api.ts'
import { readConnection } from './http/connection.ts'
import { sharedOptions } from './options/shared-options.ts'
import { Output } from './show/output.ts'
import { tellError } from './show/tell-error.ts'
import type { Terminal } from './terminal.ts'

/** What the commands are built into. */
export interface Shell {
  terminal: Terminal
  exitWith: (code: number) => void
}

/** What a command works with. */
export interface Session {
  api: Api
  output: Output
  terminal: Terminal
}

interface SessionOptions {
  url?: string
  tokenFile?: string
  json: boolean
  utc: boolean
}

/** One call of a command, as its command line has it. */
export interface Call<O> {
  args: string[]
  options: O
}

const EXIT_CODES = `
Exit codes: 0 done, 1 it failed or was refused, 2 the command line is wrong.
The address and the token come from JADWAL_URL and JADWAL_TOKEN.`

/** Adds what commands below this one inherit. */
export function subcommand(parent: Command, name: string, description: string): Command {
  return parent.command(name).copyInheritedSettings(parent).description(description)
}

/** A command that asks the api. `run` gives the exit code where it is not 0; what it throws is told in words. */
export function apiCommand<O extends object>(
  shell: Shell,
  command: Command,
  run: (session: Session, call: Call<O>) => Promise<number | void>,
): Command {
  return addSessionOptions(command).action(async () => {
    const options = command.opts<O & SessionOptions>()
    const args = (command.processedArgs as unknown[]).flat().filter((arg) => arg !== undefined)
    try {
      const session = await openSession(shell.terminal, options)
      shell.exitWith((await run(session, { args: args.map(String), options })) ?? 0)
    } catch (error) {
      shell.exitWith(tellError(shell.terminal, error, options.json))
    }
  })
}

function addSessionOptions(command: Command): Command {
  command.optionsGroup('Options of all commands:')
  for (const option of sharedOptions()) command.addOption(option)
  return command.addHelpText('after', EXIT_CODES)
}

async function openSession(terminal: Terminal, options: SessionOptions): Promise<Session> {
  const connection = await readConnection(terminal, options)
  return {
    api: new Api(connection, terminal.stop),
    output: new Output(terminal, options),
    terminal,
  }
}
