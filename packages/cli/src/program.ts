import { Command, CommanderError } from 'commander'
import { addCommands } from './commands/all-commands.ts'
import { addImportCommands } from './import-commands.ts'
import { takeSharedOptionsEarly } from './options/shared-options.ts'
import type { Shell } from './session.ts'
import { usageText, USAGE_ERROR } from './show/tell-error.ts'
import type { Terminal } from './terminal.ts'
import { VERSION } from './version.ts'

export type { Terminal } from './terminal.ts'

const EXAMPLES = `
Examples:
  jadwal up                                    Redis, Postgres and all services on this machine
  jadwal enqueue email.send --payload '{"to":"ana@example.com","template":"welcome"}' --wait
  jadwal runs list --state dead --from 2h
  jadwal schedules apply schedules.yaml
  jadwal doctor                                what is wrong, and what cures it

Environment: JADWAL_URL, the api (default: http://127.0.0.1:3000); JADWAL_TOKEN, what opens it;
NO_COLOR. "jadwal COMMAND --help" tells more of each.`

/**
 * Runs one command line and gives its exit code: 0 done, 1 it failed, 2 the command line is wrong.
 * An import that read what it was given is done, also when it reports parts that have no counterpart.
 */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = 0
  const isJson = wantsJson(args)
  const program = createProgram({ terminal, exitWith: (code) => (exitCode = code) }, isJson)
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return SHOWN.has(error.code) ? 0 : USAGE_ERROR
  }
}

/** As a command line that can't be understood says it; what stands behind -- is no option. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).includes('--json')
}

const SHOWN = new Set(['commander.helpDisplayed', 'commander.version'])

function createProgram(shell: Shell, isJson: boolean): Command {
  const { terminal } = shell
  const program = new Command('jadwal')
    .description('Jadwal, a distributed job scheduler')
    .version(VERSION, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: terminal.writeOutput,
      writeErr: terminal.writeError,
      getOutHelpWidth: () => terminal.outputColumns() ?? 100,
      getErrHelpWidth: () => terminal.errorColumns() ?? 100,
      outputError: (text, write) => write(usageText(text, isJson)),
    })
    .showHelpAfterError(!isJson)
    .addHelpText('after', EXAMPLES)
  addCommands(shell, program)
  addImportCommands(shell, program)
  takeSharedOptionsEarly(program)
  return program
}
