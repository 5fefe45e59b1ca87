import { type FuseChange, type FusedJob, FuseWatch, mendFuses } from '@jadwal/queue'
import { type Logger, pollLoop } from '@jadwal/runtime'
import type { AnyJob } from '@jadwal/sdk'
import type { Redis } from 'ioredis'
import { Gauge, type Registry } from 'prom-client'

const NET_MS = 10_000
/** As long as a lot that nobody looks after is let out. */
const NET_AGAIN_MS = 50

export interface FusesDeps {
  redis: Redis
  url: string
  prefix: string
  queues: readonly { name: string }[]
  jobs: readonly AnyJob[]
  registry: Registry
  log: Logger
  onError: (error: Error) => void
  stop: AbortSignal
}

/** The fuses of a worker's jobs, looked after until it is closed. */
export function startFuses(deps: FusesDeps): FuseWatch {
  const { redis, url, prefix, registry, log, onError, stop } = deps
  const jobs = deps.jobs.flatMap(fusedJob)
  const isOpen = new Gauge({
    name: 'jadwal_fuse_open',
    help: 'Whether the fuse of a job is open or probing (1), or closed (0).',
    labelNames: ['queue', 'job'],
    registers: [registry],
  })
  const watch = new FuseWatch({
    redis,
    url,
    prefix,
    jobs,
    onChange: (change) => logChange(log, change),
    onState: ({ queue, name }, isClosed) => isOpen.set({ queue, job: name }, isClosed ? 0 : 1),
    onError,
    stop,
  })
  const { signal } = watch
  if (jobs.length > 0) void pollLoop(() => watch.look(), { signal, log, name: 'look after fuses' })
  void pollLoop(() => mend(deps, watch, jobs), { signal, log, name: 'mend fuses' })
  return watch
}

function fusedJob({ name, queue, fuse }: AnyJob): FusedJob[] {
  return fuse ? [{ name, queue, fuse }] : []
}

async function mend(
  { redis, prefix, queues, log }: FusesDeps,
  watch: FuseWatch,
  jobs: readonly FusedJob[],
): Promise<number> {
  let left = 0
  for (const { name: queue } of queues) {
    const own = jobs.filter((job) => job.queue === queue).map((job) => job.name)
    const mended = await mendFuses({ redis, prefix, queue, jobs: own })
    for (const change of mended.made) logChange(log, change)
    await watch.tell([...mended.untold, ...mended.made])
    left += mended.left
  }
  return left > 0 ? NET_AGAIN_MS : NET_MS
}

function logChange(log: Logger, change: FuseChange): void {
  const facts = { ...change, text: undefined }
  switch (change.type) {
    case 'opened':
      log.warn(facts, 'too many attempts of a job failed, its fuse is open: its runs are parked')
      return
    case 'reopened':
      log.warn(facts, 'the probe of a fuse failed, it is open again')
      return
    case 'closed':
      log.warn(facts, 'fuse closed, the runs that were parked are made')
  }
}
