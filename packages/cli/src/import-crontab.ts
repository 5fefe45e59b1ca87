import { crontabReport } from './crontab-report.ts'
import { takeOver } from './crontab-schedules.ts'
import { readCrontab } from './read-crontab.ts'
import { scheduleFileText } from './schedule-file-text.ts'
import type { Terminal } from './terminal.ts'

export interface ImportCrontabOptions {
  system: boolean
  timezone?: string
}

/** `jadwal import crontab`: gives 0 when the file was read, whatever it holds, and 1 when it can't be. */
export async function importCrontab(
  terminal: Terminal,
  file: string,
  options: ImportCrontabOptions,
): Promise<number> {
  const name = file === '-' ? 'standard input' : file
  let text: string
  try {
    text = file === '-' ? await terminal.readInput() : await terminal.readFile(file)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    terminal.writeError(`jadwal: ${name} cannot be read: ${why}\n`)
    return 1
  }
  const crontab = readCrontab(text, {
    system: options.system,
    timezone: options.timezone ?? terminal.timezone,
  })
  const { taken, refused } = takeOver(crontab)
  const fromHost = options.timezone === undefined ? terminal.timezone : undefined
  terminal.writeOutput(scheduleFileText(name, taken))
  terminal.writeError(
    crontabReport({ name, taken, refused, ...(fromHost ? { hostTimezone: fromHost } : {}) }),
  )
  return 0
}
