import { type Command, Option } from 'commander'
import { DEFAULT_URL } from '../http/connection.ts'

/** What every command that asks the api takes. */
export function sharedOptions(): Option[] {
  return [
    new Option('--json', 'for programs: one JSON document, or one a line of many').default(
      false,
      '',
    ),
    new Option('--utc', "times in UTC instead of the host's zone").default(false, ''),
    new Option('--url <url>', `the api (default: JADWAL_URL, else ${DEFAULT_URL})`),
    new Option('--token-file <file>', 'a file with the token; - reads it from standard input'),
  ]
}

/**
 * Lets them stand before the words of a command too: `jadwal --url URL runs list`. The nearest to the end
 * holds. A command that has no such option refuses it there as well. Call it when all commands are added.
 */
export function takeSharedOptionsEarly(program: Command): void {
  addToGroup(program.optionsGroup('Options of all commands that ask the api:'), false)
  program.hook('preAction', (_program, command) => handOn(command))
}

function addToGroup(group: Command, isHidden: boolean): void {
  // Else a group would take what stands behind its commands, too.
  group.enablePositionalOptions()
  for (const option of sharedOptions()) group.addOption(option.hideHelp(isHidden))
  for (const command of group.commands) if (command.commands.length > 0) addToGroup(command, true)
}

function handOn(command: Command): void {
  for (let group = command.parent; group; group = group.parent) {
    for (const option of sharedOptions()) {
      const name = option.attributeName()
      if (group.getOptionValueSource(name) !== 'cli') continue
      if (!command.options.some(({ long }) => long === option.long))
        command.error(`error: unknown option '${option.long}'`, { code: 'commander.unknownOption' })
      if (command.getOptionValueSource(name) !== 'cli')
        command.setOptionValueWithSource(name, group.getOptionValue(name), 'cli')
    }
  }
}
