import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { ExpressAdapter } from '@bull-board/express'
import { TICKS_QUEUE } from '@jadwal/domain'
import { keys, listQueues } from '@jadwal/queue'
import { Queue } from 'bullmq'
import { type RequestHandler, Router } from 'express'
import type { Redis } from 'ioredis'
import { methodNotAllowed } from './endpoints.ts'

export const BOARD_PATH = '/queues'
const POLL_SECONDS = 15
/** A field of a message that is longer as JSON is cut; a large one freezes the page. */
const LONGEST_FIELD = 20_000

export interface Board {
  handler: RequestHandler
  /** Shows the queues that there are by now. Rejects when Redis is away. */
  refresh: () => Promise<void>
  close: () => Promise<void>
}

export interface BoardDeps {
  redis: Redis
  prefix: string
  /** The public path of `/`, without its slash. */
  base: string
  onError: (error: Error) => void
}

/**
 * Bull Board over every queue, its dead letters, and the leader's alarms, for looking only: what it
 * would do to messages goes round the history.
 */
export function createBoard({ redis, prefix, base, onError }: BoardDeps): Board {
  const server = new ExpressAdapter().setBasePath(base + BOARD_PATH)
  const board = createBullBoard({
    queues: [],
    serverAdapter: server,
    options: {
      uiConfig: {
        boardTitle: 'Jadwal',
        boardLogo: { path: '' },
        hideRedisDetails: true,
        showWorkers: false,
        showMetrics: false,
        sortQueues: true,
        pollingInterval: { showSetting: false, forceInterval: POLL_SECONDS },
      },
    },
  })
  const opened = new Map<string, { queue: Queue; adapter: BullMQAdapter }>()

  function open(name: string, bullPrefix: string, description: string): void {
    if (opened.has(name)) return
    // Without skipMetasUpdate a reader would overwrite what the queue's owner has set.
    const queue = new Queue(name, {
      connection: redis,
      prefix: bullPrefix,
      skipMetasUpdate: true,
      skipWaitingForReady: true,
    })
    queue.on('error', onError)
    const adapter = new BullMQAdapter(queue, { readOnlyMode: true, description })
    for (const field of ['data', 'returnValue', 'progress'] as const)
      adapter.setFormatter(field, shorten)
    opened.set(name, { queue, adapter })
  }

  async function refresh(): Promise<void> {
    const before = opened.size
    open(TICKS_QUEUE, keys.bullPrefix(prefix, TICKS_QUEUE), 'Alarms of the leader, one a cadence')
    for (const queue of await listQueues(redis, prefix)) {
      const bullPrefix = keys.bullPrefix(prefix, queue)
      open(queue, bullPrefix, 'Runs')
      open(keys.deadQueueName(queue), bullPrefix, `Dead letters of ${queue}`)
    }
    if (opened.size === before) return
    board.replaceQueues([...opened.values()].map(({ adapter }) => adapter))
  }

  return {
    handler: Router().use(onlyLook, server.getRouter() as RequestHandler),
    refresh,
    close: async () => {
      await Promise.allSettled([...opened.values()].map(({ queue }) => queue.close()))
    },
  }
}

const onlyLook: RequestHandler = (req, _res, next) => {
  if (req.method === 'GET' || req.method === 'HEAD') return next()
  throw methodNotAllowed(req.method, 'GET, HEAD', ' The board is for looking; act through /api/v1.')
}

function shorten(value: unknown): unknown {
  const text = JSON.stringify(value) ?? ''
  if (text.length <= LONGEST_FIELD) return value
  return {
    cut: `${text.length} characters as JSON, the first ${LONGEST_FIELD} are`,
    begins: text.slice(0, LONGEST_FIELD),
  }
}
