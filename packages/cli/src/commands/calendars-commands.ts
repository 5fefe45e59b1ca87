import type { Command } from 'commander'
import { type Shell, subcommand } from '../session.ts'
import { addSettingCommands } from './setting-commands.ts'

/** `jadwal calendars`: named lists of dates that schedules skip or keep to. */
export function addCalendarsCommands(shell: Shell, program: Command): void {
  const calendars = subcommand(program, 'calendars', 'Look at calendars and change them')
  addSettingCommands(shell, calendars, {
    path: '/calendars',
    word: 'calendar',
    words: 'calendars',
    fields: ['source', 'description'],
    hasReason: true,
  })
}
