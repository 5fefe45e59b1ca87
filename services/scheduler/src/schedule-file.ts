import { readFile } from 'node:fs/promises'
import { readScheduleFile, type ScheduleFile } from '@jadwal/domain'
import { checkScheduledJobs, PayloadCheck } from '@jadwal/queue'
import { ConfigError, readYaml } from '@jadwal/runtime'
import type { Catalogue } from './catalogue.ts'

const VARIABLE = 'JADWAL_SCHEDULES'

/** Reads and checks a schedule file. Throws `ConfigError` with every problem in it. */
export async function loadScheduleFile(path: string): Promise<ScheduleFile> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw wrong(path, [error.code === 'ENOENT' ? 'there is no such file' : error.message])
  })
  const document = readYaml(text)
  if (!document.ok) throw wrong(path, document.problems)
  const result = readScheduleFile(document.value)
  if (!result.ok) throw wrong(path, result.problems)
  return result.file
}

/** Checks jobs and payloads of a schedule file against the catalogue. Throws `ConfigError`. */
export function checkAgainstCatalogue(
  path: string,
  file: ScheduleFile,
  catalogue: Catalogue,
): void {
  const found = checkScheduledJobs(catalogue.jobs(), file.schedules, new PayloadCheck())
  if (found.length === 0) return
  throw wrong(
    path,
    found.map(
      ({ field, value, message }) =>
        `${field}${value === undefined ? '' : ` ("${value}")`}: ${message}`,
    ),
  )
}

/** Jobs that the file names and no worker has published. */
export function unknownJobs(file: ScheduleFile, catalogue: Catalogue): string[] {
  return [...new Set(file.schedules.map(({ spec }) => spec.job))].filter(
    (job) => !catalogue.job(job),
  )
}

/** The schedule file as an error of the variable that names it. */
export function wrong(path: string, problems: readonly { toString(): string }[]): ConfigError {
  return new ConfigError([
    {
      variable: VARIABLE,
      problem: `names a schedule file that can't be applied: ${path}${problems.map((problem) => `\n  ${String(problem)}`).join('')}`,
    },
  ])
}
