import {
  type Db,
  type EventGroup,
  type EventGroups,
  findDeadGroups,
  findLateTicks,
  findMissedTicks,
} from '@jadwal/db'
import {
  type AlertExample,
  type AlertGroup,
  type AlertRuleSpec,
  ALERTS_QUEUE,
  type AlertSubject,
} from '@jadwal/domain'
import type { Observation } from './observation.ts'

type EventSpec = Extract<AlertRuleSpec, { kind: 'dead-letter' | 'late-tick' | 'missed-tick' }>

/** What happened from an instant on, by what it has in common. What happens to messages of alerts is left out. */
export async function observeEvents(db: Db, spec: EventSpec, fromMs: number): Promise<Observation> {
  const { groups, isCut } = await find(db, spec, fromMs)
  const threshold = spec.kind === 'late-tick' ? 1 : spec.parameters.threshold
  return {
    groups: groups
      .filter(({ count }) => count >= threshold)
      .map((group) => groupOf(spec, group, isCut)),
    isComplete: !isCut,
  }
}

async function find(db: Db, spec: EventSpec, fromMs: number): Promise<EventGroups> {
  const query = { from: new Date(fromMs), matchers: spec.matchers, exceptQueue: ALERTS_QUEUE }
  switch (spec.kind) {
    case 'dead-letter':
      return await findDeadGroups(db, spec.parameters.groupBy, query)
    case 'late-tick':
      return await findLateTicks(db, query)
    case 'missed-tick':
      return await findMissedTicks(db, query)
  }
}

function groupOf(spec: EventSpec, found: EventGroup, isAtLeast: boolean): AlertGroup {
  const { key, count, schedules, examples, first_at: firstAt, last_at: lastAt } = found
  return {
    key,
    subject: subjectOf(spec, found),
    summary: summaryOf(spec, found),
    count,
    ...(isAtLeast ? { isAtLeast } : {}),
    examples: examples.map((example) => exampleOf(spec, example)),
    firstMs: firstAt.getTime(),
    lastMs: lastAt.getTime(),
    schedules: schedules.slice(0, 20),
  }
}

/** A group of a whole queue is about no job of it. */
function subjectOf(spec: EventSpec, { job, queue, schedule, labels }: EventGroup): AlertSubject {
  const isOfQueue = spec.kind === 'dead-letter' && spec.parameters.groupBy === 'queue'
  return {
    ...(job === null || isOfQueue ? {} : { job }),
    ...(queue === null ? {} : { queue }),
    ...(schedule === null ? {} : { schedule }),
    ...(labels === null ? {} : { labels }),
  }
}

function summaryOf(spec: EventSpec, { job, queue, schedule, count, examples }: EventGroup): string {
  switch (spec.kind) {
    case 'dead-letter': {
      const { groupBy } = spec.parameters
      const what = groupBy === 'queue' ? `in the queue ${queue}` : `of ${job}`
      const error = groupBy === 'fingerprint' ? examples[0]?.error : ''
      return `${many(count, 'run')} ${what} died${error ? `: ${error}` : ''}`
    }
    case 'late-tick':
      return `${many(count, 'tick')} of ${schedule ?? job} ${count === 1 ? 'is' : 'are'} late`
    case 'missed-tick':
      return `${many(count, 'tick')} of ${schedule ?? job} ${count === 1 ? 'was' : 'were'} missed`
  }
}

function exampleOf(spec: EventSpec, example: EventGroup['examples'][number]): AlertExample {
  const { id, at, error, state, reason, tickAt } = example
  const text = {
    'dead-letter': error || (reason ?? 'dead'),
    'late-tick': `the tick of ${isoOf(tickAt)} is ${state}`,
    'missed-tick': `the tick of ${isoOf(tickAt)}: ${reason ?? 'missed'}`,
  }[spec.kind]
  return { text, runId: id, at: isoOf(at) }
}

function isoOf(instant: string | null): string {
  return instant === null ? 'unknown time' : new Date(instant).toISOString()
}

export function many(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count.toLocaleString('en')} ${noun}s`
}
