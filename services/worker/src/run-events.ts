import type { RunEnd, StartedRun } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { RunMetrics } from './run-metrics.ts'

/** An attempt is over. One that succeeded is not worth a line: the history has it. */
export function attemptEnded(
  { log, metrics }: { log: Logger; metrics: RunMetrics },
  run: StartedRun,
  { end, counted }: { end: RunEnd; counted: boolean },
): void {
  metrics.ended(run, end, counted)
  if (counted && end.kind === 'succeeded' && run.lostInARow === 0) return
  const facts = { run: run.id, job: run.job, queue: run.queue, attempt: run.attempt }
  if (run.lostInARow > 0) log.warn({ ...facts, lost: run.lostInARow }, 'run rescued')
  if (!counted) {
    log.warn({ ...facts, end: end.kind }, 'attempt lost, its outcome does not count')
    return
  }
  switch (end.kind) {
    case 'succeeded':
    case 'left-alone':
    case 'in-lot':
    case 'lost':
      return
    case 'dead':
      log.error({ ...facts, reason: end.reason, error: end.error }, 'run moved to dead letters')
      return
    case 'retry':
      log.warn(
        { ...facts, delayMs: end.delayMs, error: end.error },
        'attempt failed, to be retried',
      )
      return
    case 'cancelled':
      log[end.reason === 'superseded' && !end.error ? 'debug' : 'info'](
        { ...facts, reason: end.reason, error: end.error },
        'run cancelled',
      )
      return
    case 'drained':
      log.info(facts, 'attempt cut short, run put back')
  }
}
