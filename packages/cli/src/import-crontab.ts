import { crontabReport } from './crontab-report.ts'
import { CRON_DEFAULTS, takeOver } from './crontab-schedules.ts'
import { fileDefaults, type ImportOptions } from './import-options.ts'
import { writeReport } from './import-report.ts'
import { readInputFile } from './input-file.ts'
import { readCrontab } from './read-crontab.ts'
import { scheduleFileText } from './schedule-file-text.ts'
import type { Terminal } from './terminal.ts'

export interface ImportCrontabOptions extends ImportOptions {
  system: boolean
  timezone?: string
}

/** `jadwal import crontab`: gives 0 when the file was read, whatever it holds, and 1 when it can't be. */
export async function importCrontab(
  terminal: Terminal,
  file: string,
  options: ImportCrontabOptions,
): Promise<number> {
  const input = await readInputFile(terminal, file)
  if (!input) return 1
  const { name, text } = input
  const crontab = readCrontab(text, {
    system: options.system,
    timezone: options.timezone ?? terminal.timezone,
  })
  const { taken, refused } = takeOver(crontab)
  terminal.writeOutput(
    scheduleFileText({
      comment: `Taken over from ${name}. The defaults are what cron does.`,
      defaults: fileDefaults(CRON_DEFAULTS, options),
      taken,
    }),
  )
  const hostTimezone = options.timezone === undefined ? { hostTimezone: terminal.timezone } : {}
  const report = crontabReport({ name, taken, refused, ...hostTimezone })
  terminal.writeError(writeReport(report, options.json))
  return 0
}
