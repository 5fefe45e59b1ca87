import { OverlapPolicy, Role, RunState } from '@jadwal/domain'
import type { Command, Option } from 'commander'

/** What may stand at a place, as names that only the api knows. */
export type Names = 'jobs' | 'schedules' | 'queues' | 'calendars' | 'locks'

/** What may follow on a command line, and names of these besides. */
export interface Candidates {
  words: string[]
  names?: Names
}

const NAMES: Readonly<Record<string, Names>> = {
  job: 'jobs',
  schedule: 'schedules',
  queue: 'queues',
  calendar: 'calendars',
  lock: 'locks',
}

/** What options take that take one of a few. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  '--state': RunState.options,
  '--overlap': OverlapPolicy.options,
  '--role': Role.options,
  '--settled': ['yes', 'no', 'any'],
  '--source': ['file', 'api'],
}

/** What may stand where `words` end: its last one is what somebody has begun to write, maybe nothing. */
export function candidatesFor(program: Command, words: readonly string[]): Candidates {
  const current = words.at(-1) ?? ''
  let command = program
  let argument = 0
  let valueOf: Option | undefined
  for (const word of words.slice(0, -1)) {
    if (valueOf) {
      valueOf = undefined
    } else if (word.startsWith('-')) {
      const option = optionOf(command, word)
      valueOf = option?.required && !word.includes('=') ? option : undefined
    } else {
      const next = command.commands.find(
        (each) => each.name() === word || each.aliases().includes(word),
      )
      if (next) [command, argument] = [next, 0]
      else argument += 1
    }
  }
  if (valueOf) return valuesOf(valueOf)
  if (current.startsWith('-')) return { words: optionsOf(command) }
  if (command.commands.length > 0) return { words: visible(command) }
  return argumentsOf(command, argument)
}

function optionOf(command: Command, word: string): Option | undefined {
  const [name = ''] = word.split('=')
  return command.options.find(({ short, long }) => short === name || long === name)
}

function valuesOf(option: Option): Candidates {
  const long = option.long ?? ''
  const names = NAMES[long.slice(2)]
  return { words: [...(VALUES[long] ?? [])], ...(names ? { names } : {}) }
}

function optionsOf(command: Command): string[] {
  const help = command.createHelp()
  return help.visibleOptions(command).flatMap(({ long }) => long ?? [])
}

function visible(command: Command): string[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name())
}

function argumentsOf(command: Command, at: number): Candidates {
  const all = command.registeredArguments
  const last = all.at(-1)
  const argument = all[at] ?? (last?.variadic ? last : undefined)
  if (!argument) return { words: [] }
  if (argument.argChoices) return { words: [...argument.argChoices] }
  const names = NAMES[argument.name()]
  return { words: [], ...(names ? { names } : {}) }
}
