import { readFile } from 'node:fs/promises'
import { readScheduleFile, type ScheduleFile } from '@jadwal/domain'
import { ConfigError } from '@jadwal/runtime'
import { LineCounter, parseDocument } from 'yaml'
import { PayloadCheck } from '@jadwal/queue'
import type { Catalogue } from './catalogue.ts'

const VARIABLE = 'JADWAL_SCHEDULES'

/** Reads and checks a schedule file. Throws `ConfigError` with every problem in it. */
export async function loadScheduleFile(path: string): Promise<ScheduleFile> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw wrong(path, [error.code === 'ENOENT' ? 'there is no such file' : error.message])
  })
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  if (document.errors.length > 0) {
    throw wrong(
      path,
      document.errors.map(
        (error) => `line ${lines.linePos(error.pos[0]).line}: ${error.message.split('\n')[0]}`,
      ),
    )
  }
  const result = readScheduleFile(toPlain(path, document))
  if (!result.ok) throw wrong(path, result.problems)
  return result.file
}

/** The document as plain values. A few lines of anchors can stand for more than a memory holds. */
function toPlain(path: string, document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS()
  } catch (error) {
    throw wrong(path, [error instanceof Error ? error.message : String(error)])
  }
}

/** Checks jobs and payloads of a schedule file against the catalogue. Throws `ConfigError`. */
export function checkAgainstCatalogue(
  path: string,
  file: ScheduleFile,
  catalogue: Catalogue,
): void {
  const payloads = new PayloadCheck()
  const problems = file.schedules.flatMap(({ name, spec }) => {
    const job = catalogue.job(spec.job)
    if (!job) {
      return [
        `schedules.${name}.job ("${spec.job}"): no worker serves this job; known are ${catalogue.names().join(', ')}`,
      ]
    }
    return payloads
      .problems(job, spec.payload)
      .map(({ field, message }) => `schedules.${name}.${field}: ${message}`)
  })
  if (problems.length > 0) throw wrong(path, problems)
}

/** Jobs that the file names and no worker has published. */
export function unknownJobs(file: ScheduleFile, catalogue: Catalogue): string[] {
  return [...new Set(file.schedules.map(({ spec }) => spec.job))].filter(
    (job) => !catalogue.job(job),
  )
}

function wrong(path: string, problems: string[]): ConfigError {
  return new ConfigError([
    {
      variable: VARIABLE,
      problem: `names a schedule file that can't be applied: ${path}${problems.map((problem) => `\n  ${problem}`).join('')}`,
    },
  ])
}
