import { type AlertGroup, type AlertRuleSpec, fits, roughly, ruleMs } from '@jadwal/domain'
import type { AlertSnapshot } from '@jadwal/queue'
import { many } from './observe-events.ts'

type StandingSpec = Extract<
  AlertRuleSpec,
  {
    kind: 'oldest-waiting' | 'no-leader' | 'no-worker' | 'outbox' | 'fuse-open' | 'rejected-facts'
  }
>

/** What stands in Redis otherwise than a rule wants it. */
export function observeStanding(snapshot: AlertSnapshot, spec: StandingSpec): AlertGroup[] {
  switch (spec.kind) {
    case 'oldest-waiting':
      return oldestWaiting(snapshot, spec)
    case 'no-leader':
      return snapshot.isLed
        ? []
        : [groupOf('leader', { subject: {}, summary: 'No scheduler leads: nothing is fired' })]
    case 'no-worker':
      return unserved(snapshot, spec)
    case 'outbox':
      return outboxes(snapshot, spec)
    case 'fuse-open':
      return snapshot.fuses
        .filter(
          ({ job, queue }) => fits(spec.matchers.job, job) && fits(spec.matchers.queue, queue),
        )
        .map(({ job, queue, fuse }) =>
          groupOf(`${queue} ${job}`, {
            subject: { job, queue },
            summary: `The fuse of ${job} is ${fuse.state}: ${many(fuse.parked, 'run')} of it wait`,
          }),
        )
    case 'rejected-facts':
      return snapshot.outboxes
        .filter(({ queue, rejected }) => rejected > 0 && fits(spec.matchers.queue, queue))
        .map(({ queue, rejected }) =>
          groupOf(
            queue,
            {
              subject: { queue },
              summary: `Postgres refused ${many(rejected, 'fact')} of ${queue}`,
            },
            rejected,
          ),
        )
  }
}

function oldestWaiting(
  { queues }: AlertSnapshot,
  { parameters, matchers }: Extract<StandingSpec, { kind: 'oldest-waiting' }>,
): AlertGroup[] {
  const afterMs = ruleMs(parameters.after)
  return queues.flatMap(({ name, oldestWaitingSeconds, paused, counts }) => {
    const waitedMs = (oldestWaitingSeconds ?? 0) * 1_000
    if (waitedMs < afterMs || !fits(matchers.queue, name)) return []
    const why = paused ? ', which is paused' : ''
    const summary = `The next run of the queue ${name}${why} has been waiting for ${roughly(waitedMs)}`
    return [
      groupOf(name, { subject: { queue: name }, summary }, counts.waiting + counts.prioritized),
    ]
  })
}

function unserved(
  { queues, served, catalogued }: AlertSnapshot,
  { parameters, matchers }: Extract<StandingSpec, { kind: 'no-worker' }>,
): AlertGroup[] {
  return queues.flatMap(({ name, counts }) => {
    const work = counts.waiting + counts.prioritized + counts.active
    const isWanted = work > 0 || (parameters.idle && catalogued.has(name))
    if (served.has(name) || !isWanted || !fits(matchers.queue, name)) return []
    const summary = `No worker serves the queue ${name}: ${many(work, 'run')} wait`
    return [groupOf(name, { subject: { queue: name }, summary }, work)]
  })
}

function outboxes(
  { outboxes: all }: AlertSnapshot,
  { parameters, matchers }: Extract<StandingSpec, { kind: 'outbox' }>,
): AlertGroup[] {
  const mostLagMs = ruleMs(parameters.lag)
  return all.flatMap(({ queue, depth, lagMs }) => {
    if (lagMs < mostLagMs && depth < parameters.depth) return []
    if (!fits(matchers.queue, queue)) return []
    const summary = `Facts of ${queue} have been waiting for ${roughly(lagMs)} to be recorded: entries: ${depth}`
    return [groupOf(queue, { subject: { queue }, summary }, depth)]
  })
}

function groupOf(
  key: string,
  about: Pick<AlertGroup, 'subject' | 'summary'>,
  count = 1,
): AlertGroup {
  return { key, ...about, count, examples: [] }
}
