import { firstUuidAt, RunState } from '@jadwal/domain'
import { type RawBuilder, sql } from 'kysely'
import { gatherCondition, hasWords } from './gather-runs.ts'
import type { Conditions, RunFilters } from './run-conditions.ts'

type Name = keyof Conditions

/** Ids in [from, before), as far as given. */
export interface IdRange {
  from?: string
  before?: string
}

/**
 * The conditions that an index answers newest first, most selective first. The first one that is
 * given leads the search, the others are checked on what it finds.
 */
const LEADERS: readonly Name[] = [
  'idempotencyKey',
  'parent',
  'backfill',
  'late',
  'scheduleId',
  'error',
  'job',
  'queue',
]

/** What the index of a leader says besides it. */
const LED_WITH: Partial<Record<Name, readonly Name[]>> = {
  late: ['late', 'scheduleId', 'job', 'queue', 'states'],
  scheduleId: ['scheduleId', 'job', 'queue', 'states'],
  job: ['job', 'queue', 'states'],
  queue: ['queue', 'states'],
}
/** The leaders whose index is sorted by state before the id. */
const BY_STATE: ReadonlySet<Name> = new Set<Name>(['job', 'queue'])
/** The leaders that have so few runs that words and errors are best checked on each. */
const FEW: ReadonlySet<Name> = new Set<Name>(['idempotencyKey', 'parent', 'backfill'])

/** One way to look for runs in a table. */
export interface Search {
  /** The condition that leads; undefined: all runs, by their ids. */
  leader: Name | undefined
  /** The states to look into one by one, where the leader's index has them before the id. */
  states: readonly RunState[] | undefined
  /** The job whose queues are looked into one by one: its index has them before the states. */
  queuesOf: string | undefined
  /** What else holds; nothing when the leader says all. */
  rest: readonly RawBuilder<boolean>[]
  /**
   * What one index gathers: of words and errors, whose matches are dear to find run by run. Undefined where
   * there are none, or where the leader has so few runs that it is better.
   */
  gathered: RawBuilder<boolean> | undefined
  /** All that holds; of what is gathered, all that has to be checked then. */
  others: readonly RawBuilder<boolean>[]
  lead: RawBuilder<boolean>
}

/** How runs with these conditions are looked for. */
export function planSearch(asked: Conditions): Search {
  // A state that is given twice would be looked into twice, and its runs counted twice.
  const conditions = asked.states ? { ...asked, states: [...new Set(asked.states)] } : asked
  const given = (Object.keys(conditions) as Name[]).filter((name) => isGiven(conditions, name))
  const leader = LEADERS.find((name) => given.includes(name))
  const isFew = leader !== undefined && FEW.has(leader)
  const gathered = isFew ? undefined : gatherCondition(conditions)
  const others = given.filter((name) => gathered === undefined || name !== 'q')
  return {
    ...(leader === undefined
      ? leadByState(conditions, given)
      : leadBy(leader, { conditions, given })),
    gathered,
    others: others.map((name) => condition(conditions, name)),
  }
}

type Lead = Omit<Search, 'gathered' | 'others'>

function leadBy(
  leader: Name,
  { conditions, given }: { conditions: Conditions; given: readonly Name[] },
): Lead {
  const led = LED_WITH[leader] ?? [leader]
  const byState = BY_STATE.has(leader)
  const leads = led.filter((name) => given.includes(name) && !(byState && name === 'states'))
  return {
    leader,
    states: byState ? (conditions.states ?? RunState.options) : undefined,
    queuesOf: leader === 'job' && conditions.queue === undefined ? conditions.job : undefined,
    lead: sql.join<boolean>(
      leads.map((name) => condition(conditions, name)),
      sql` AND `,
    ),
    rest: restOf(conditions, given, led),
  }
}

/** Most runs have succeeded, so with that state there is nothing better than to walk through all runs. */
function leadByState(conditions: Conditions, given: readonly Name[]): Lead {
  const { states } = conditions
  const rest = restOf(conditions, given, ['states'])
  if (states === undefined || states.includes('succeeded')) {
    const lead = states === undefined ? sql<boolean>`true` : condition(conditions, 'states')
    return { leader: undefined, states: undefined, queuesOf: undefined, lead, rest }
  }
  const lead = sql<boolean>`state <> 'succeeded'`
  return { leader: 'states', states, queuesOf: undefined, lead, rest }
}

function restOf(
  conditions: Conditions,
  given: readonly Name[],
  led: readonly Name[],
): RawBuilder<boolean>[] {
  return given.filter((name) => !led.includes(name)).map((name) => condition(conditions, name))
}

function isGiven(conditions: Conditions, name: Name): boolean {
  if (name === 'q') return (conditions.q ?? '').trim() !== ''
  if (name === 'labels') return Object.keys(conditions.labels ?? {}).length > 0
  return conditions[name] !== undefined
}

/** In SQL, on a table with the columns of `runs`, each in the words of its index. */
function condition(conditions: Conditions, name: Name): RawBuilder<boolean> {
  const { labels, states, q = '' } = conditions
  switch (name) {
    case 'idempotencyKey':
      return sql`idempotency_key = ${conditions.idempotencyKey}`
    case 'parent':
      return sql`parent_id = ${conditions.parent}`
    case 'backfill':
      return sql`backfill_id = ${conditions.backfill}`
    case 'scheduleId':
      return sql`schedule_id = ${conditions.scheduleId}`
    case 'late':
      return sql`late_at IS NOT NULL`
    case 'error':
      return sql`(error IS NOT NULL AND error ->> 'name' = ${conditions.error})`
    case 'job':
      return sql`job = ${conditions.job}`
    case 'queue':
      return sql`queue = ${conditions.queue}`
    case 'states':
      return sql`state = ANY (${states}::text[])`
    case 'labels':
      return sql`(labels IS NOT NULL AND labels @> ${JSON.stringify(labels)}::jsonb)`
    case 'q':
      return hasWords(q.trim())
  }
}

/** The ids from `from` to `to`, before the cursor's. */
export function idRange(
  { from, to }: Pick<RunFilters, 'from' | 'to'>,
  cursor: string | undefined,
): IdRange {
  const ends = [to === undefined ? undefined : firstUuidAt(to.getTime()), cursor?.toLowerCase()]
  const before = ends
    .filter((end) => end !== undefined)
    .toSorted()
    .at(0)
  return {
    ...(from === undefined ? {} : { from: firstUuidAt(from.getTime()) }),
    ...(before === undefined ? {} : { before }),
  }
}
