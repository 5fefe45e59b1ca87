import { createBullBoard } from '@bull-board/api'
import type { Role } from '@jadwal/domain'
import { isAtLeast } from '@jadwal/domain'
import { keys, listQueues } from '@jadwal/queue'
import { Queue } from 'bullmq'
import type { ApiDeps } from './api-deps.ts'
import { BoardAdapter } from './board-adapter.ts'
import { BoardQueue, boardQueuesOf } from './board-queue.ts'
import { boardRouter } from './board-router.ts'
import { basePathOf } from './public-path.ts'

export const BOARD_PATH = '/queues'
const POLL_SECONDS = 15

const UI = {
  boardTitle: 'Jadwal',
  boardLogo: { path: '' },
  hideDocsLink: true,
  hideRedisDetails: true,
  showWorkers: false,
  showMetrics: false,
  sortQueues: true,
  pollingInterval: { showSetting: false, forceInterval: POLL_SECONDS },
}

export interface Board {
  /** Serves the board; acts are carried out with what the routes of the api work with. */
  handler: ApiDeps['board']
  /** Shows the queues that there are by now. Rejects when Redis is away. */
  refresh: () => Promise<void>
  close: () => Promise<void>
}

export interface BoardDeps extends Pick<ApiDeps, 'redis' | 'prefix' | 'publicUrl' | 'snapshots'> {
  onError: (error: Error) => void
}

/**
 * Bull Board over every queue, its dead letters, and the leader's alarms. There are two of them, which
 * differ in what their pages offer: one for who may only look, one for who may act. What may be asked
 * of them, and by whom, stands in `board-router.ts`.
 */
export function createBoard(deps: BoardDeps): Board {
  const { redis, prefix, publicUrl, snapshots, onError } = deps
  const basePath = basePathOf(publicUrl) + BOARD_PATH
  const toLook = openBoard(basePath)
  const toAct = openBoard(basePath)
  const queues = new Map<string, Queue>()

  function open(name: string, bullPrefix: string): Queue {
    // Without skipMetasUpdate a reader would overwrite what the queue's owner has set.
    const queue = new Queue(name, {
      connection: redis,
      prefix: bullPrefix,
      skipMetasUpdate: true,
      skipWaitingForReady: true,
    })
    queue.on('error', onError)
    return queue
  }

  async function refresh(): Promise<void> {
    const shown = boardQueuesOf(await listQueues(redis, prefix))
    if (shown.length === queues.size) return
    for (const { name, of } of shown)
      if (!queues.has(name)) queues.set(name, open(name, keys.bullPrefix(prefix, of)))
    for (const [board, mayAct] of [
      [toLook, false],
      [toAct, true],
    ] as const) {
      const adapters = shown.flatMap(({ name, ...of }) => {
        const queue = queues.get(name)
        const readOnlyMode = !mayAct || of.kind !== 'runs'
        return queue ? [new BoardQueue(queue, { ...of, snapshots, readOnlyMode })] : []
      })
      board.replaceQueues(adapters)
    }
  }

  const boardOf = (role: Role): BoardAdapter =>
    isAtLeast(role, 'operator') ? toAct.adapter : toLook.adapter
  return {
    handler: (apiDeps) => boardRouter(apiDeps, boardOf),
    refresh,
    close: async () => {
      await Promise.allSettled([...queues.values()].map((queue) => queue.close()))
    },
  }
}

function openBoard(basePath: string) {
  const adapter = new BoardAdapter().setBasePath(basePath) as BoardAdapter
  const { replaceQueues } = createBullBoard({
    queues: [],
    serverAdapter: adapter,
    options: { uiConfig: UI },
  })
  return { adapter, replaceQueues }
}
