import type { Command } from 'commander'
import { z } from 'zod'
import { UsageError } from '../http/api-errors.ts'
import { parseAnswer } from '../http/list.ts'
import { readJsonValue } from '../options/json-value.ts'
import { durationMs, instant, wholeNumber } from '../options/values.ts'
import { followRun } from '../runs/follow.ts'
import { apiCommand, type Session, type Shell, subcommand } from '../session.ts'
import { enqueueBatch } from './enqueue-batch.ts'

export interface EnqueueOptions {
  payload?: string
  delay?: number
  runAt?: string
  priority?: number
  attempts?: number
  key?: string
  id?: string
  wait: boolean
  timeout?: number
  batch?: string
  fromLine: number
}

const Accepted = z.looseObject({
  id: z.string(),
  state: z.string().optional(),
  existing: z.boolean().optional(),
})

/** `jadwal enqueue`: one run, or a file of them. */
export function addEnqueueCommand(shell: Shell, program: Command): void {
  const enqueue = subcommand(program, 'enqueue', 'Enqueue a run of a job, or many from a file')
    .argument('[job]')
    .option('--payload <json>', "JSON, @file, or - for standard input (default: '{}')")
    .option('--delay <duration>', 'start so much later, such as 10m', durationMs)
    .option('--run-at <instant>', 'start at this time', instant(shell.terminal.clock, 'future'))
    .option('--priority <number>', '0 (first, default) to 1000', wholeNumber(0, 1_000))
    .option('--attempts <count>', "over the job's own", wholeNumber(1, 1_000))
    .option('--key <text>', 'idempotency key: the same key gives the same run for 24 h')
    .option('--id <uuid>', 'a UUIDv7 of your own making')
    .option('--wait', 'follow the run to its end; 1 when it did not succeed', false)
    .option('--timeout <duration>', 'with --wait: no longer than this', durationMs)
    .option(
      '--batch <file>',
      'one JSON document a line: a run {"job", "payload", …}, or with JOB a payload; - reads standard input',
    )
    .option('--from-line <number>', 'with --batch: begin there', wholeNumber(1, 1e9), 1)
  apiCommand<EnqueueOptions>(shell, enqueue, async (session, { args: [job], options }) => {
    checkTogether(job, options)
    if (options.batch !== undefined)
      return await enqueueBatch(session, options.batch, {
        job,
        ...requestOptions(options),
        fromLine: options.fromLine,
      })
    return await enqueueOne(session, job ?? '', options)
  }).addHelpText(
    'after',
    `
Examples:
  jadwal enqueue email.send --payload '{"to":"ana@example.com","template":"welcome"}' --wait
  jadwal enqueue report.generate --payload @report.json --run-at "2026-12-24 08:00"
  jadwal enqueue --batch runs.ndjson
  jq -c '.[]' customers.json | jadwal enqueue invoice.send --batch -`,
  )
}

function checkTogether(job: string | undefined, options: EnqueueOptions): void {
  const { batch, payload, id, key, wait, timeout, delay, runAt, fromLine } = options
  if (job === undefined && batch === undefined)
    throw new UsageError(
      'name a job, or give --batch with a file of runs. "jadwal jobs" lists the jobs.',
    )
  if (delay !== undefined && runAt !== undefined)
    throw new UsageError('--delay and --run-at do not go together: give one of them')
  if (timeout !== undefined && !wait) throw new UsageError('--timeout goes with --wait')
  if (batch === undefined && fromLine !== 1) throw new UsageError('--from-line goes with --batch')
  if (batch === undefined) return
  const single = { payload, id, key, wait: wait || undefined }
  const wrong = Object.entries(single).find(([, value]) => value !== undefined)
  if (wrong) throw new UsageError(`--${wrong[0]} is of one run, and does not go with --batch`)
  const shared = [delay, runAt, options.priority, options.attempts]
  if (job === undefined && shared.some((value) => value !== undefined))
    throw new UsageError(
      'with --batch and no JOB, each line says delayMs, runAt, priority and attempts itself',
    )
}

async function enqueueOne(session: Session, job: string, options: EnqueueOptions): Promise<number> {
  const { api, output, terminal } = session
  const payload =
    options.payload === undefined ? {} : await readJsonValue(terminal, '--payload', options.payload)
  const { key: idempotencyKey, id } = options
  const body = { job, payload, ...requestOptions(options), idempotencyKey, id }
  const answer = await api.post('/runs', body)
  const run = parseAnswer(Accepted, answer)
  if (options.wait) {
    if (!output.isJson) output.note(`${run.id} is ${run.existing ? 'there already' : 'enqueued'}`)
    return await followRun(session, run.id, options.timeout)
  }
  output.either(answer, () => {
    output.line(run.id)
    if (run.existing)
      output.note(`It was there already${run.state ? `, and is ${run.state}` : ''}.`)
  })
  return 0
}

function requestOptions({ delay, runAt, priority, attempts }: EnqueueOptions) {
  return { delayMs: delay, runAt, priority, attempts }
}
