import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type AnyJob, defineJob, type JobContext, PermanentError } from '@jadwal/sdk'
import type { Dispatcher } from 'undici'
import { z } from 'zod'
import { csvLine } from './csv.ts'
import { lastPeriod } from './report-period.ts'
import { type HistoryRun, readHistory } from './run-history.ts'
import type { Settings } from './settings.ts'

const ReportGeneratePayload = z.strictObject({
  kind: z.enum(['hourly', 'daily', 'monthly']),
  timezone: z
    .string()
    .refine(isTimezone, 'is no IANA time zone: write for example Asia/Jakarta')
    .default('UTC')
    .describe('Whose hours, days and months; UTC when left out.'),
})

const COLUMNS = [
  'id',
  'job',
  'queue',
  'state',
  'reason',
  'schedule',
  'tickAt',
  'enqueuedAt',
  'startedAt',
  'finishedAt',
  'attempts',
  'error',
] as const

interface ReportDeps {
  settings: Settings
  dispatcher: Dispatcher
}

/**
 * `report.generate`: the run history of the last period as a CSV file. The period follows from the
 * tick, not from the time it is, and the file's name from the period: done again, late or twice, it
 * writes the same file.
 */
export function reportGenerate(deps: ReportDeps): AnyJob {
  return defineJob({
    name: 'report.generate',
    queue: 'reports',
    description: 'Writes the run history of the last hour, day or month to a CSV file.',
    payload: ReportGeneratePayload,
    timeoutMs: 10 * 60_000,
    async handler({ kind, timezone }, ctx) {
      const { settings, dispatcher } = deps
      const { api } = settings
      if (!api)
        throw new PermanentError(
          'JADWAL_URL and JADWAL_TOKEN are not both set: no api to read from',
        )
      const period = lastPeriod(kind, ctx.tickAt ?? enqueuedAt(ctx.runId), timezone)
      const folder = join(settings.dataDir, 'reports')
      await mkdir(folder, { recursive: true })
      const start = period.from.toISOString().slice(0, 16).replaceAll(':', '')
      const file = join(folder, `runs-${kind}-${start}Z.csv`)
      const rows = await writeReport(
        file,
        readHistory({ dispatcher, api }, period, ctx.signal),
        ctx,
      )
      return { file, rows, from: period.from.toISOString(), to: period.to.toISOString() }
    },
  })
}

/** Readers see the whole file or none of it: it gets its name when it is complete and on disk. */
async function writeReport(
  file: string,
  pages: AsyncIterable<HistoryRun[]>,
  ctx: JobContext,
): Promise<number> {
  const draft = `${file}.${ctx.runId}-${ctx.attempt}.part`
  let rows = 0
  try {
    const handle = await open(draft, 'w')
    try {
      await handle.appendFile(csvLine(COLUMNS))
      for await (const runs of pages) {
        await handle.appendFile(runs.map(line).join(''))
        rows += runs.length
        await ctx.progress({ rows })
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  return rows
}

function line(run: HistoryRun): string {
  const shown = {
    ...run,
    attempts: run.attempts.length,
    error: run.error && `${run.error.name}: ${run.error.message}`,
  }
  return csvLine(COLUMNS.map((column) => shown[column]))
}

/** A run without a tick was enqueued at the instant that its id (a UUIDv7) begins with. */
function enqueuedAt(runId: string): Date {
  return new Date(Number.parseInt(runId.replaceAll('-', '').slice(0, 12), 16))
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
