import { type Rule, shownPosition, waitsForHand } from './reason.ts'

/** All slots of its key are taken. */
export const keyLimit: Rule = ({ message: { lot } }) => {
  if (lot?.kind !== 'key') return undefined
  const { job, limit, holders, position } = lot
  const shownKey = lot.key.startsWith('=') ? lot.key.slice(1) : null
  const key = shownKey === null ? 'its key' : `its key ${JSON.stringify(shownKey)}`
  return {
    kind: 'key-limit',
    message: `${limit} runs of ${job} may run at once for ${key}, and ${holders.length} do; ${shownPosition(position)} wait before it.`,
    help: 'It starts when one of those ends; concurrency.limit of the job says how many may run.',
    data: { job, key: shownKey, limit, holders, ...position },
  }
}

/** Its queue has started as many runs as it may for now. */
export const rateLimited: Rule = (situation) => {
  const { message, queue, workers, nowMs } = situation
  const { started, rateForMs, rateMax } = message.queue
  const rates = workers.flatMap(({ queues }) =>
    queues.flatMap(({ name, rate }) => (name === queue && rate ? [rate.max] : [])),
  )
  const max = rateMax ?? (rates.length > 0 ? Math.max(...rates) : Infinity)
  if (rateForMs === undefined || started < max || !waitsForHand(situation)) return undefined
  const until = new Date(nowMs + rateForMs).toISOString()
  return {
    kind: 'rate-limited',
    message: `The queue ${queue} has started as many runs as its rate allows; the next ones start at ${until}.`,
    help: 'JADWAL_QUEUES of the workers says what its rate is.',
    data: { queue, max, started, until },
  }
}

/** Too many attempts of its job failed. */
export const fuseOpen: Rule = ({ message: { fuse, lot, job } }) => {
  if (!fuse) return undefined
  const since = new Date(fuse.openedAtMs).toISOString()
  const data = { job, state: fuse.state, since, ...(lot?.kind === 'fuse' ? lot.position : {}) }
  if (fuse.state === 'probing')
    return {
      kind: 'fuse-open',
      message: `The fuse of ${job} has been open since ${since}; ${fuse.probes} runs are let through now to see whether they succeed.`,
      data: { ...data, probes: fuse.probes },
    }
  const nextProbeAt = new Date(fuse.untilMs).toISOString()
  return {
    kind: 'fuse-open',
    message: `The fuse of ${job} has been open since ${since}, as too many of its attempts failed; the next run is let through at ${nextProbeAt}.`,
    help: 'Look what its runs die of: GET /api/v1/dead-letters/groups',
    data: { ...data, nextProbeAt },
  }
}
