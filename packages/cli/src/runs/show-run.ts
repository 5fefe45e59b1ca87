import { stateColor } from '../show/colors.ts'
import { jsonText, labelsText } from '../show/json-text.ts'
import { oneLine } from '../show/one-line.ts'
import type { Output } from '../show/output.ts'
import { between } from '../show/times.ts'
import { errorText, type RunAnswer } from './run-answer.ts'

/** All that is known of a run, for people. */
export function showRun(output: Output, run: RunAnswer): void {
  const { times } = output
  output.raw(
    `${output.paint('bold', oneLine(run.id))}  ${output.paint(stateColor(run.state), oneLine(run.state))}${run.reason == null ? '' : `  ${oneLine(run.reason)}`}`,
  )
  output.fields({
    job: run.job,
    queue: run.queue,
    schedule: run.schedule,
    tick: times.at(run.tickAt),
    'tick until': run.tickUntil == null ? '' : `${times.at(run.tickUntil)}, ${run.tickCount} ticks`,
    enqueued: times.full(run.enqueuedAt),
    due: times.full(run.runAt),
    started: times.full(run.startedAt),
    finished: times.full(run.finishedAt),
    took: between(run.startedAt, run.finishedAt),
    'late since': times.full(run.lateAt),
    priority: run.priority,
    labels: labelsText(run.labels),
    'idempotency key': run.idempotencyKey,
    'concurrency key': run.concurrencyKey,
    parent: run.parentId,
    backfill: run.backfillId,
    'redrive of': run.redriveOf,
    'redriven as': run.redrivenAs,
    discarded: discardedText(output, run),
    fingerprint: run.fingerprint,
    term: run.term,
    error: errorText(run.error),
  })
  showValue(output, 'Payload', run.payload)
  showValue(output, 'Result', run.result)
  showValue(output, 'Progress', run.progress)
  showAttempts(output, run)
}

function discardedText({ times }: Output, { discarded }: RunAnswer): string {
  return discarded == null
    ? ''
    : `${times.at(discarded.at)} by ${discarded.by}: ${discarded.reason}`
}

function showValue(output: Output, title: string, value: unknown): void {
  if (value === undefined || value === null) return
  output.heading(title)
  output.block(jsonText(value))
}

function showAttempts(output: Output, { attempts }: RunAnswer): void {
  for (const { attempt, state, worker, startedAt, finishedAt, error, log } of attempts) {
    const took = between(startedAt, finishedAt)
    output.heading(`Attempt ${attempt}`)
    output.raw(
      `  ${output.paint(stateColor(state), oneLine(state))}${took === '' ? '' : ` after ${took}`}${worker == null ? '' : ` on ${oneLine(worker)}`}`,
    )
    if (error != null) output.block(error.stack ?? errorText(error))
    for (const { at, level, message } of log ?? [])
      output.raw(
        `  ${output.paint('dim', output.times.at(at))} ${oneLine(`${level ?? ''} ${message ?? ''}`)}`,
      )
  }
}
