import { DAY } from '@jadwal/domain'

export interface TakenOptions {
  fields: Record<string, unknown>
  refused: { text: string; why: string }[]
  notes: string[]
}

const MOST_ATTEMPTS = 1_000
const LOWEST_PRIORITY = 1_000
const LONGEST = 7 * DAY

/** Short names, as BullMQ stores some options. */
const LONG_NAMES: Record<string, string> = {
  de: 'deduplication',
  fpof: 'failParentOnFailure',
  cpof: 'continueParentOnFailure',
  idof: 'ignoreDependencyOnFailure',
  rdof: 'removeDependencyOnFailure',
  kl: 'keepLogs',
  tm: 'telemetry',
  omc: 'telemetry',
}

/** What BullMQ itself writes into the options of each job. */
const ITS_OWN = new Set(['repeat', 'jobId', 'repeatJobKey', 'prevMillis', 'timestamp', 'delay'])

const HISTORY = 'Jadwal keeps the history of runs for a time, the same for all'
const WHY: Record<string, string> = {
  backoff: 'how long to wait between attempts is said by the job, not by its schedules',
  removeOnComplete: HISTORY,
  removeOnFail: HISTORY,
  keepLogs: HISTORY,
  stackTraceLimit: HISTORY,
  lifo: 'runs of one priority are taken in their order',
  deduplication: '"overlap" says what becomes of a tick while an earlier run is unfinished',
  debounce: '"overlap" says what becomes of a tick while an earlier run is unfinished',
  sizeLimit: 'the payload of a schedule has at most 64 KiB, always',
}

/** The options of a repeatable's jobs: attempts, priority and Bull's timeout are taken over. */
export function takeOptions(opts: Readonly<Record<string, unknown>>): TakenOptions {
  const found: TakenOptions = { fields: {}, refused: [], notes: [] }
  for (const [name, value] of named(opts)) {
    if (ITS_OWN.has(name) || value === null || value === false) continue
    if (isTaken(name)) take(name, value, found)
    else
      found.refused.push({
        text: `opts.${name}: ${JSON.stringify(value)}`,
        why: WHY[name] ?? 'it has no counterpart in Jadwal',
      })
  }
  return found
}

/** By their long names, sorted: Redis' Lua keeps no order. */
function named(opts: Readonly<Record<string, unknown>>): [string, unknown][] {
  const entries = Object.entries(opts).map(([key, value]): [string, unknown] => [
    LONG_NAMES[key] ?? key,
    value,
  ])
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
}

type Taken = 'attempts' | 'priority' | 'timeout'

function isTaken(name: string): name is Taken {
  return name === 'attempts' || name === 'priority' || name === 'timeout'
}

const MOST: Record<Taken, number> = {
  attempts: MOST_ATTEMPTS,
  priority: LOWEST_PRIORITY,
  timeout: LONGEST,
}
const FIELDS: Record<Taken, string> = {
  attempts: 'attempts',
  priority: 'priority',
  timeout: 'timeoutMs',
}

function take(name: Taken, value: unknown, found: TakenOptions): void {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    const text = `opts.${name}: ${JSON.stringify(value)}`
    found.refused.push({ text, why: 'it is no whole number, 0 or more' })
    return
  }
  // One attempt, and no priority, is what the defaults of the file say.
  if (value === 0 || (name === 'attempts' && value === 1)) return
  const taken = Math.min(value, MOST[name])
  found.fields[FIELDS[name]] = taken
  if (taken !== value)
    found.notes.push(`${name} ${value} became ${taken}, the most that Jadwal has`)
}
