import type { WorkerInfo } from '@jadwal/domain'
import { fuseOpen, keyLimit, rateLimited } from './limit-reasons.ts'
import { type Reason, type Rule, shownPosition, type Situation, waitsForHand } from './reason.ts'

/** The reasons that hold for a run that waits; never none. */
export function reasonsOf(situation: Situation): Reason[] {
  const reasons = RULES.flatMap((rule) => rule(situation) ?? [])
  if (reasons.length > 0) return reasons
  return [
    {
      kind: 'next',
      message: 'Nothing keeps it: the next free hand of a worker takes it.',
      data: {},
    },
  ]
}

const queuePaused: Rule = ({ queue, message }) => {
  if (!message.queue.paused) return undefined
  const { pause } = message.queue
  const who = pause === null ? '' : ` by ${pause.by} at ${pause.at}`
  const why = pause?.reason === undefined ? '' : `: ${pause.reason}`
  return {
    kind: 'queue-paused',
    message: `The queue ${queue} was paused${who}${why}.`,
    help: `Resume it: POST /api/v1/queues/${queue}/resume`,
    data: { queue, ...pause },
  }
}

const noWorker: Rule = ({ queue, workers }) => {
  const serving = workers.filter((worker) => servesQueue(worker, queue))
  if (serving.some(({ state }) => state === 'running')) return undefined
  const draining = serving.map(({ instance }) => instance)
  const rest = draining.length === 0 ? '' : ': those that did are being stopped'
  return {
    kind: 'no-worker',
    message: `No live worker serves the queue ${queue}${rest}.`,
    help: `Start a worker that serves ${queue}; JADWAL_QUEUES says which queues one serves.`,
    data: { queue, draining },
  }
}

const delayed: Rule = ({ message, nowMs }) => {
  const { place, dueAtMs, outcome } = message
  if (place !== 'delayed' || dueAtMs === undefined || dueAtMs <= nowMs) return undefined
  if (outcome?.kind === 'left-alone') return undefined
  const until = new Date(dueAtMs).toISOString()
  const data = { until, forMs: dueAtMs - nowMs }
  if (outcome?.kind === 'retry')
    return {
      kind: 'retrying',
      message: `Its attempt ${outcome.attempt} failed; the next one is made at ${until}.`,
      help: 'Make it now: POST /api/v1/runs/{id}/retry',
      data: { ...data, attempt: outcome.attempt },
    }
  return {
    kind: 'delayed',
    message: `It is not due before ${until}.`,
    help: 'Put it forward: promote it in the Bull Board.',
    data,
  }
}

const behindOthers: Rule = (situation) => {
  const { message, queue } = situation
  const { ahead, place, priority } = message
  if (!ahead || ahead.atMost === 0 || !waitsForHand(situation)) return undefined
  return {
    kind: 'behind-others',
    message: `${shownPosition(ahead)} of the queue ${queue} ${ahead.atMost === 1 ? 'is' : 'are'} taken before it${place === 'prioritized' ? `, as it has the priority ${priority}` : ''}.`,
    help: 'More workers, or a higher concurrency of theirs, take them sooner.',
    data: { ...ahead, priority, waiting: message.queue.waiting },
  }
}

const workersBusy: Rule = (situation) => {
  const { message, queue, workers } = situation
  const { active, mostAtOnce } = message.queue
  const hands = workers
    .filter(({ state }) => state === 'running')
    .flatMap(({ queues }) => queues.filter(({ name }) => name === queue))
    .reduce((sum, { concurrency }) => sum + concurrency, 0)
  const most = Math.min(hands, mostAtOnce ?? Infinity)
  if (hands === 0 || active < most || !waitsForHand(situation)) return undefined
  return {
    kind: 'workers-busy',
    message: `All ${most} hands of the workers of ${queue} have a run.`,
    help: 'More workers, or a higher concurrency of theirs, take it sooner.',
    data: { hands: most, inHand: active },
  }
}

const unknownForm: Rule = ({ message: { form } }) =>
  form === 1
    ? undefined
    : {
        kind: 'unknown-form',
        message: `Its message has a form (v: ${JSON.stringify(form) ?? 'none'}) that this version does not know; workers leave it alone.`,
        help: 'Start workers of the version that sent it.',
        data: { form: form ?? null, known: 1 },
      }

const unknownJob: Rule = ({ message, queue, job }) => {
  const { outcome } = message
  const name = message.job
  const isLeft = outcome?.kind === 'left-alone' && outcome.sinceMs !== undefined
  if (!isLeft && job?.queue === queue) return undefined
  const since =
    isLeft && outcome.sinceMs !== undefined ? new Date(outcome.sinceMs).toISOString() : null
  const what =
    job === undefined
      ? `No worker has published the job ${name}`
      : job.queue === queue
        ? `Workers that took it up do not know the job ${name} and have left it alone since ${since}`
        : `The job ${name} is served from the queue ${job.queue} by now, and this run lies in ${queue}`
  return {
    kind: 'unknown-job',
    message: `${what}.`,
    help: `Start a worker that has the job ${name} on the queue ${queue}.`,
    data: { job: name, since, servedFrom: job?.queue ?? null },
  }
}

const killedWorkers: Rule = ({ message: { outcome } }) =>
  outcome?.kind === 'left-alone' && outcome.lost > 0
    ? {
        kind: 'killed-workers',
        message: `Its last ${outcome.lost} attempts ended with their workers; such runs are made one at a time.`,
        data: { lost: outcome.lost },
      }
    : undefined

const overlap: Rule = ({ message: { waitsFor } }) =>
  waitsFor && {
    kind: 'overlap',
    message: `It waits until ${waitsFor.count} unfinished runs of its schedule have ended.`,
    help: 'Cancel those, or let the overlap of the schedule be "allow".',
    data: { count: waitsFor.count, runs: waitsFor.ids },
  }

const redisFull: Rule = ({ workersHold }) =>
  workersHold
    ? {
        kind: 'redis-full',
        message:
          'Redis is nearly full of facts that are not recorded yet, so workers take no runs for now.',
        help: 'See that recorders run and reach Postgres; then it goes on by itself.',
        data: {},
      }
    : undefined

const cancelAsked: Rule = ({ message: { cancelAsked: isAsked } }) =>
  isAsked
    ? { kind: 'cancel-asked', message: 'It is about to be cancelled, as was asked.', data: {} }
    : undefined

const workerLost: Rule = ({ message: { place, hasLock } }) =>
  place === 'active' && !hasLock
    ? {
        kind: 'worker-lost',
        message:
          'The worker that had it in hand was not heard of for too long; another takes it up.',
        data: {},
      }
    : undefined

const RULES: readonly Rule[] = [
  workerLost,
  cancelAsked,
  queuePaused,
  noWorker,
  delayed,
  behindOthers,
  workersBusy,
  keyLimit,
  rateLimited,
  fuseOpen,
  unknownForm,
  unknownJob,
  killedWorkers,
  overlap,
  redisFull,
]

function servesQueue({ queues }: WorkerInfo, queue: string): boolean {
  return queues.some(({ name }) => name === queue)
}
