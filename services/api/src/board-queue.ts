import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { TICKS_QUEUE } from '@jadwal/domain'
import { keys } from '@jadwal/queue'
import type { Queue } from 'bullmq'
import type { QueueSnapshots } from './queue-snapshots.ts'

/** What lies in a queue of the board. */
export type BoardQueueKind = 'runs' | 'dead letters' | 'alarms'

export interface BoardQueueOptions {
  kind: BoardQueueKind
  /** The queue of runs that it is, or whose dead letters it has. */
  of: string
  snapshots: Pick<QueueSnapshots, 'recent'>
  /** Nothing in it can be changed. */
  readOnlyMode: boolean
  description: string
}

type Counts = Awaited<ReturnType<BullMQAdapter['getJobCounts']>>

/**
 * A queue as the board sees it. What the board asks of each queue at each poll is answered from the one
 * snapshot that everybody shares, so that a tab costs Redis no more with a hundred queues than with one.
 */
export class BoardQueue extends BullMQAdapter {
  readonly #options: BoardQueueOptions

  constructor(queue: Queue, options: BoardQueueOptions) {
    const { readOnlyMode, description } = options
    super(queue, { readOnlyMode, description })
    this.#options = options
  }

  override async getJobCounts(): Promise<Counts> {
    const { kind } = this.#options
    if (kind === 'alarms') return await super.getJobCounts()
    const counted = await this.#counted()
    const counts = kind === 'runs' ? counted?.counts : { waiting: counted?.deadLetters ?? 0 }
    return { ...NOTHING, ...counts }
  }

  override async isPaused(): Promise<boolean> {
    if (this.#options.kind !== 'runs') return false
    return (await this.#counted())?.paused ?? false
  }

  override getGlobalConcurrency(): Promise<null> {
    return Promise.resolve(null)
  }

  override getActiveRateLimitTtl(): Promise<number> {
    return Promise.resolve(0)
  }

  /** The alarms are no schedules, and are not for people. */
  override getJobSchedulersCount(): Promise<number> {
    return Promise.resolve(0)
  }

  async #counted() {
    const { queues } = await this.#options.snapshots.recent()
    return queues.find(({ name }) => name === this.#options.of)
  }
}

const NOTHING = {
  active: 0,
  waiting: 0,
  'waiting-children': 0,
  prioritized: 0,
  completed: 0,
  failed: 0,
  delayed: 0,
}

/** The queues of the board that there are for these queues of runs, by name. */
export function boardQueuesOf(
  queues: readonly string[],
): { name: string; kind: BoardQueueKind; of: string; description: string }[] {
  const alarms = {
    name: TICKS_QUEUE,
    kind: 'alarms',
    of: TICKS_QUEUE,
    description: 'Alarms of the leader, one a cadence',
  } as const
  const others = queues.flatMap((of) => [
    { name: of, kind: 'runs' as const, of, description: 'Runs' },
    {
      name: keys.deadQueueName(of),
      kind: 'dead letters' as const,
      of,
      description: `Dead letters of ${of}`,
    },
  ])
  return [alarms, ...others]
}
