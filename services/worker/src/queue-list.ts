import { ALERTS_QUEUE, HOUR, MINUTE, QueueName, type QueueRate, SECOND } from '@jadwal/domain'

export interface ServedQueue {
  name: string
  /** How many runs this worker has in hand at most. */
  concurrency: number
  /** How many runs all workers together start in a time at most; no limit when absent. */
  rate?: QueueRate
}

const DEFAULT_CONCURRENCY = 10
const MAX_CONCURRENCY = 10_000
const MAX_RATE = 1_000_000
const UNIT_MS = { s: SECOND, m: MINUTE, h: HOUR }

const FORM = /^\s*([^:@\s]+)\s*(?::\s*(\d{1,5})\s*)?(?:@\s*(\d{1,7})\s*\/\s*([smh])\s*)?$/

const RIGHT = `must be a list of queue:concurrency@rate such as emails:20@100/s,reports:2, each concurrency from 1 to ${MAX_CONCURRENCY}, each rate from 1 to ${MAX_RATE} a second (/s), minute (/m) or hour (/h)`

/**
 * Reads `emails:20@100/s,reports` (10 where no number is given, no rate where none is); a string says what is
 * wrong with it. Of the queue of alerts the number may be 0: it is not served.
 */
export function readQueueList(text: string): ServedQueue[] | string {
  const queues = new Map<string, ServedQueue>()
  for (const part of text.split(',')) {
    const [, name = '', given = DEFAULT_CONCURRENCY, max, unit] = FORM.exec(part) ?? []
    const concurrency = Number(given)
    const rate = max === undefined ? undefined : { max: Number(max), perMs: UNIT_MS[unit as 's'] }
    if (
      name === '' ||
      !isWithin(concurrency, MAX_CONCURRENCY, name === ALERTS_QUEUE ? 0 : 1) ||
      !isWithin(rate?.max ?? 1, MAX_RATE)
    )
      return `${RIGHT}; ${JSON.stringify(part.trim())} is not`
    const checked = QueueName.safeParse(name)
    if (!checked.success && name !== ALERTS_QUEUE)
      return `names a queue ${JSON.stringify(name)} that ${reasonOf(checked.error)}`
    if (queues.has(name)) return `names the queue ${name} twice`
    queues.set(name, { name, concurrency, ...(rate ? { rate } : {}) })
  }
  return [...queues.values()]
}

/** Every queue of the catalogue, 10 runs at a time each. */
export function allQueues(names: Iterable<string>): ServedQueue[] {
  return [...new Set(names)].toSorted().map((name) => ({ name, concurrency: DEFAULT_CONCURRENCY }))
}

function isWithin(value: number, most: number, least = 1): boolean {
  return value >= least && value <= most
}

function reasonOf(error: { issues: readonly { message: string }[] }): string {
  return error.issues.map((issue) => issue.message).join(', ')
}
