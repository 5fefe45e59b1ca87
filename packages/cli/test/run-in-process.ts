import { readScheduleFile, type ScheduleSpec } from '@jadwal/domain'
import { FakeClock } from '@jadwal/testkit'
import { parse } from 'yaml'
import { runCommand } from '../src/index.ts'

/** When the commands run. */
const NOW = '2026-12-01T00:00:00Z'

export interface InProcess {
  exitCode: number
  output: string
  report: string
  /** The program that the command has become. */
  became?: string
}

/** Runs one command line in this process: on that standard input, on files that are given, and in Asia/Jakarta. */
export async function runInProcess(
  args: string[],
  input = '',
  files: Readonly<Record<string, string>> = {},
): Promise<InProcess> {
  let output = ''
  let report = ''
  const became: { became?: string } = {}
  const exitCode = await runCommand(args, {
    readFile: async (path) => {
      const text = files[path]
      if (text === undefined) throw new Error('no such file')
      return text
    },
    readInput: () => Promise.resolve(input),
    writeOutput: (text) => (output += text),
    writeError: (text) => (report += text),
    ask: () => Promise.resolve(undefined),
    edit: () => Promise.resolve(undefined),
    become: async (file) => {
      became.became = file
    },
    env: { JADWAL_URL: 'http://127.0.0.1:2' },
    outputColumns: () => undefined,
    errorColumns: () => undefined,
    timezone: 'Asia/Jakarta',
    clock: new FakeClock(NOW),
    stop: new AbortController().signal,
  })
  return { exitCode, output, report, ...became }
}

/** The schedules of a written file, as a scheduler reads them. */
export function readSchedules(output: string): (ScheduleSpec & { name: string })[] {
  const read = readScheduleFile(parse(output))
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return read.file.schedules.map(({ name, spec }) => Object.assign(spec, { name }))
}

/** The lines of the report's first section: place and text, then why. */
export function refusedLines(report: string): string[] {
  const [, refusals = ''] = /Not taken over:\n([^]*?)(?:\n\n|$)/.exec(report) ?? []
  return refusals
    .trim()
    .split('\n')
    .map((line) => line.trim())
}
