import { QueueName } from '@jadwal/domain'

export interface ServedQueue {
  name: string
  concurrency: number
}

const DEFAULT_CONCURRENCY = 10
const MAX_CONCURRENCY = 10_000

/** Reads `emails:20,reports` (10 where no number is given); a string says what is wrong with it. */
export function readQueueList(text: string): ServedQueue[] | string {
  const queues = new Map<string, ServedQueue>()
  for (const part of text.split(',')) {
    const match = /^\s*([^:\s]+)\s*(?::\s*(\d{1,5})\s*)?$/.exec(part)
    const name = match?.[1] ?? ''
    const concurrency = Number(match?.[2] ?? DEFAULT_CONCURRENCY)
    if (!match || concurrency < 1 || concurrency > MAX_CONCURRENCY)
      return `must be a list of queue:concurrency such as emails:20,reports:2, each from 1 to ${MAX_CONCURRENCY}`
    const checked = QueueName.safeParse(name)
    if (!checked.success)
      return `names a queue ${JSON.stringify(name)} that ${reasonOf(checked.error)}`
    if (queues.has(name)) return `names the queue ${name} twice`
    queues.set(name, { name, concurrency })
  }
  return [...queues.values()]
}

/** Every queue of the catalogue, 10 runs at a time each. */
export function allQueues(names: Iterable<string>): ServedQueue[] {
  return [...new Set(names)].toSorted().map((name) => ({ name, concurrency: DEFAULT_CONCURRENCY }))
}

function reasonOf(error: { issues: readonly { message: string }[] }): string {
  return error.issues.map((issue) => issue.message).join(', ')
}
