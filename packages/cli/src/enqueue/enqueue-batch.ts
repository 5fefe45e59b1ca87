import { z } from 'zod'
import { CommandError, ProblemError } from '../http/api-errors.ts'
import { parseAnswer } from '../http/list.ts'
import { messageOf } from '../input-file.ts'
import { readTextFile } from '../options/yaml-text.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../show/one-line.ts'
import { ProgressBar } from '../show/progress.ts'

/** So many runs, and so many characters of them, go in one request. */
const AT_ONCE = 1_000
const MOST_TEXT = 4 * 1024 * 1024

const Accepted = z.looseObject({
  runs: z.array(z.looseObject({ id: z.string(), existing: z.boolean().optional() })),
})

export interface BatchOptions {
  /** Each line is a payload of it, instead of a run. */
  job: string | undefined
  delayMs?: number | undefined
  runAt?: string | undefined
  priority?: number | undefined
  attempts?: number | undefined
  /** From 1. */
  fromLine: number
}

interface Line {
  number: number
  run: Record<string, unknown>
  length: number
}

/**
 * Enqueues the runs of a file, one a line, request by request. What is wrong with a line is told by its
 * number, with where to go on; a request that is refused has enqueued nothing.
 */
export async function enqueueBatch(
  session: Session,
  file: string,
  options: BatchOptions,
): Promise<number> {
  const { api, output, terminal } = session
  const lines = readLines(await readTextFile(terminal, file), options)
  const bar = new ProgressBar(terminal, 'runs')
  let [done, existed] = [0, 0]
  for (const chunk of chunks(lines)) {
    const answer = await api
      .post('/runs/batch', { runs: chunk.map(({ run }) => run) })
      .catch((error: unknown) => {
        bar.clear()
        throw inLines(error, chunk, done)
      })
    const { runs } = parseAnswer(Accepted, answer)
    if (output.isJson) for (const run of (answer as { runs: unknown[] }).runs) output.jsonLine(run)
    done += runs.length
    existed += runs.filter(({ existing }) => existing).length
    bar.show({ done, total: lines.length })
  }
  bar.clear()
  const before = existed === 0 ? '' : `, ${existed} of them were there already`
  if (output.isJson) output.note(`${done} runs enqueued${before}`)
  else output.line(`${done} ${done === 1 ? 'run' : 'runs'} enqueued${before}`)
  return 0
}

/** Every line is looked at before the first one is sent. */
function readLines(text: string, { job, fromLine, ...shared }: BatchOptions): Line[] {
  const lines: Line[] = []
  const problems: string[] = []
  for (const [at, written] of text.split('\n').entries()) {
    const number = at + 1
    if (number < fromLine || written.trim() === '') continue
    try {
      const value = JSON.parse(written) as unknown
      const isRun = typeof value === 'object' && value !== null && !Array.isArray(value)
      if (job !== undefined)
        lines.push({ number, run: { job, payload: value, ...shared }, length: written.length })
      else if (isRun)
        lines.push({ number, run: value as Record<string, unknown>, length: written.length })
      else
        problems.push(`line ${number}: must be an object such as {"job":"email.send","payload":{}}`)
    } catch (error) {
      problems.push(`line ${number}: is no JSON: ${oneLine(messageOf(error))}`)
    }
  }
  if (problems.length > 0)
    throw new CommandError(`nothing was enqueued:\n  ${shortened(problems).join('\n  ')}`)
  return lines
}

const SHOWN = 20

function shortened(problems: readonly string[]): string[] {
  const more = problems.length - SHOWN
  return [...problems.slice(0, SHOWN), ...(more > 0 ? [`and ${more} more`] : [])]
}

function* chunks(lines: readonly Line[]): Generator<Line[]> {
  let chunk: Line[] = []
  let length = 0
  for (const line of lines) {
    if (chunk.length === AT_ONCE || (chunk.length > 0 && length + line.length > MOST_TEXT)) {
      yield chunk
      ;[chunk, length] = [[], 0]
    }
    chunk.push(line)
    length += line.length
  }
  if (chunk.length > 0) yield chunk
}

/** The problem of a request, by the lines of the file. */
function inLines(error: unknown, chunk: readonly Line[], done: number): unknown {
  const first = chunk[0]?.number ?? 1
  const so =
    done === 0
      ? 'nothing was enqueued'
      : `${done} runs before line ${first} are enqueued, those from there on are not`
  const onward = `go on with --from-line ${first}`
  if (!(error instanceof ProblemError))
    return error instanceof Error
      ? new CommandError(
          `${error.message}\n${so}; whether lines ${first} to ${chunk.at(-1)?.number} are is not known: ids or idempotencyKeys make it safe to ${onward}`,
        )
      : error
  const errors = (error.document.errors ?? []).map((each) => {
    const [, index = '', path = ''] = /^runs\[(\d+)\]\.?(.*)$/.exec(each.field) ?? []
    const line = chunk[Number(index)]?.number
    if (index === '' || line === undefined) return each
    return Object.assign(each, { field: `line ${line}${path === '' ? '' : `, ${path}`}` })
  })
  const detail = `${so}${done === 0 ? '' : `; ${onward} when they are put right`}.`
  return new ProblemError(error.status, {
    ...error.document,
    detail: errors.length > 0 ? detail : `${error.message} ${detail}`,
    errors,
  })
}
