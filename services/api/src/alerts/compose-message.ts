import type {
  AlertExample,
  AlertMessage,
  AlertMessageKind,
  AlertRuleKind,
  AlertState,
} from '@jadwal/domain'

/** What can be done, by what happened. */
const ADVICE: Record<AlertRuleKind, string> = {
  'dead-letter':
    'Look at the error and mend its cause; then redrive the dead letters, or discard them with a reason.',
  'late-tick':
    'Ask why the run has not started (GET /api/v1/runs/{id}/explain), or look at how its attempts fared.',
  'missed-tick': 'Look at the ledger of the schedule; a backfill makes the runs that are missing.',
  'failure-rate':
    'Look at the latest failed runs of the job; if what it calls is down, its fuse or a pause of its queue saves attempts.',
  'oldest-waiting':
    'Start more workers for the queue, look at what the running ones are busy with, or resume the queue if it is paused.',
  'no-leader': 'Start a scheduler, and look at the logs of those that run. Ticks are made up for.',
  'no-worker': 'Start a worker that serves the queue (JADWAL_QUEUES).',
  outbox:
    'Look whether Postgres answers and a recorder runs. Facts wait in Redis, which they fill meanwhile.',
  'fuse-open':
    'Look at the failed attempts of the job. Its runs are made when what it calls answers again.',
  'rejected-facts':
    'The facts are kept in the outbox-rejected stream of the queue, each with the error of Postgres: the log of the recorder has it too.',
}

export interface Composing {
  event: AlertMessageKind
  atMs: number
  /** What stands before the paths of links; none are made without. */
  publicUrl: string | undefined
}

/** The message of an alert that fell due. */
export function composeMessage(
  state: AlertState,
  { event, atMs, publicUrl }: Composing,
): AlertMessage {
  const { id, rule, kind, group, sinceMs, closedMs, sent } = state
  const { subject, summary, count, isAtLeast, examples, firstMs } = group
  const base = publicUrl?.replace(/\/+$/, '')
  return {
    version: 1,
    event,
    alertId: id,
    sequence: sent + 1,
    rule,
    kind,
    subject,
    title: summary,
    since: iso(Math.min(sinceMs, firstMs ?? sinceMs)),
    at: iso(atMs),
    ...(event === 'resolved' && closedMs !== undefined ? { endedAt: iso(closedMs) } : {}),
    count,
    ...(isAtLeast === true ? { isAtLeast } : {}),
    examples: examples.map((example) => linked(example, base)),
    ...(base === undefined ? {} : { link: base + pathOf(state) }),
    advice: ADVICE[kind as AlertRuleKind] ?? '',
  }
}

function linked({ text, runId, at }: AlertExample, base: string | undefined) {
  const link =
    base === undefined || runId === undefined ? {} : { link: `${base}/api/v1/runs/${runId}` }
  return {
    text,
    ...(at === undefined ? {} : { at }),
    ...(runId === undefined ? {} : { runId }),
    ...link,
  }
}

/** The message that shows whether a channel works. */
export function testMessage(
  channel: string,
  { id, atMs, publicUrl }: { id: string; atMs: number; publicUrl: string | undefined },
): AlertMessage {
  const at = iso(atMs)
  return {
    version: 1,
    event: 'test',
    alertId: id,
    sequence: 1,
    rule: 'test',
    kind: 'test',
    subject: {},
    title: `The channel ${channel} works`,
    since: at,
    at,
    count: 1,
    examples: [],
    ...(publicUrl === undefined ? {} : { link: publicUrl }),
    advice: 'Nothing is wrong: somebody asked for this message.',
  }
}

/** Where there is more to see. */
function pathOf({ kind, group: { subject } }: AlertState): string {
  const { job, queue, schedule } = subject
  if (kind === 'dead-letter')
    return `/api/v1/dead-letters${job === undefined ? '' : `?job=${encodeURIComponent(job)}`}`
  if (schedule !== undefined) return `/api/v1/schedules/${encodeURIComponent(schedule)}/ticks`
  if (kind === 'oldest-waiting' && queue !== undefined) return `/queues/queue/${queue}`
  return '/'
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
