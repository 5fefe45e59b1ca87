import type { Clock, JobDescription } from '@jadwal/domain'
import type { RunRequest } from '@jadwal/queue'
import { enqueueOptions, EnqueueRequest, findJob, problemsTogether } from './enqueue-request.ts'
import { toProblem } from './error-handler.ts'
import { inSlices } from './in-slices.ts'
import { invalidPayload, type JobCheck } from './job-check.ts'
import type { Line } from './ndjson-lines.ts'
import type { Turn } from './take-turns.ts'
import { type FieldError, Problem } from './problem.ts'
import { fieldErrors } from './zod-problem.ts'

/** A line with a run that may be enqueued, or with what is wrong about it. */
export type ReadLine = { number: number } & ({ request: RunRequest } | { problem: Problem })

/** What lines are read with. */
export interface ReadDeps {
  clock: Clock
  jobs: JobCheck
  turn: Turn
}

/** Reads lines as runs, each for itself, when it is their turn. Throws a `Problem` when Redis is away. */
export async function readLines(
  { clock, jobs, turn }: ReadDeps,
  lines: readonly Line[],
): Promise<ReadLine[]> {
  await turn()
  const parsed = await inSlices(parse(lines, clock.now().getTime()), clock, turn)
  const names = parsed.flatMap((line) => ('run' in line ? [line.run.job] : []))
  const known = await jobs.jobsWith(new Set(names))
  await turn()
  return await inSlices(check(parsed, known, jobs), clock, turn)
}

type ParsedLine = { number: number } & ({ run: EnqueueRequest } | { problem: Problem })

function* parse(lines: readonly Line[], nowMs: number): Generator<undefined, ParsedLine[]> {
  const parsed: ParsedLine[] = []
  for (const { number, text } of lines) {
    try {
      parsed.push({ number, run: parseRun(text, nowMs) })
    } catch (error) {
      parsed.push({ number, problem: toProblem(error) })
    }
    yield
  }
  return parsed
}

/** Throws a `Problem`. */
function parseRun(text: string | undefined, nowMs: number): EnqueueRequest {
  if (text === undefined)
    throw new Problem('payload-too-large', { detail: 'The line is longer than a line may be.' })
  const { data, error } = EnqueueRequest.safeParse(parseJson(text))
  const errors = data ? problemsTogether(data, nowMs) : error?.issues.flatMap(fieldErrors)
  if (!data || (errors && errors.length > 0)) throw wrong(errors ?? [])
  return data
}

function wrong(errors: readonly FieldError[]): Problem {
  const detail = errors.map(({ field, message }) => `${field} ${message}`).join('; ')
  return new Problem('bad-request', { detail, errors })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    const detail = error instanceof Error ? error.message : 'The line is not JSON.'
    throw new Problem('malformed-json', { detail, cause: error })
  }
}

function* check(
  lines: readonly ParsedLine[],
  known: readonly JobDescription[],
  jobs: JobCheck,
): Generator<undefined, ReadLine[]> {
  const read: ReadLine[] = []
  for (const line of lines) {
    if ('problem' in line) read.push(line)
    else read.push({ number: line.number, ...accepted(line.run, known, jobs) })
    yield
  }
  return read
}

function accepted(
  run: EnqueueRequest,
  known: readonly JobDescription[],
  jobs: JobCheck,
): { request: RunRequest } | { problem: Problem } {
  try {
    const job = findJob(known, run.job)
    const errors = jobs.problems(job, run.payload)
    if (errors.length > 0) return { problem: invalidPayload(job.name, errors) }
    return { request: { job, payload: run.payload, options: enqueueOptions(run) } }
  } catch (error) {
    return { problem: toProblem(error) }
  }
}
