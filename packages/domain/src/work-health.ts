import { DAY, MINUTE, SECOND } from './clock.ts'
import { type Finding, findingIf, MOST_SKEW_MS } from './finding.ts'

/** What was seen of the services, by what they leave in Redis. */
export interface WorkHealth {
  leader: { instance: string; term: number; since: string } | undefined
  workers: readonly {
    instance: string
    version: string
    seenAt: string
    queues: readonly string[]
  }[]
  queues: readonly QueueHealth[]
  /** The outbox of terms and of the audit log. */
  schedulerOutbox: OutboxHealth
  /** By the clock of Redis. */
  nowMs: number
}

export interface OutboxHealth {
  depth: number
  /** How long its first entry has been waiting, in ms; 0 for an empty one. */
  oldestMs: number
  /** Facts that Postgres refused. */
  rejected: number
}

export interface QueueHealth extends OutboxHealth {
  name: string
  /** Runs that wait for a worker. */
  waiting: number
}

/** What is wrong with the services, and what cures it. `version` is that of whoever looks. */
export function judgeWork(work: WorkHealth, version: string): Finding[] {
  return [...judgeLeader(work), ...judgeWorkers(work, version), ...judgeOutboxes(work)]
}

function judgeLeader({ leader }: WorkHealth): Finding[] {
  if (!leader)
    return [
      {
        check: 'leader',
        status: 'broken',
        found: 'no scheduler leads: no tick is fired',
        cure: 'Start a scheduler, or see in the logs of those that run why none takes the lease; "jadwal locks list" shows who has it.',
      },
    ]
  // A term is the time of Redis in which it began, and `since` the same by the clock of its scheduler.
  const skewMs = Date.parse(leader.since) - leader.term
  return [
    { check: 'leader', status: 'ok', found: `${leader.instance} leads, term ${leader.term}` },
    findingIf(Math.abs(skewMs) > MOST_SKEW_MS && Math.abs(skewMs) < 365 * DAY, 'warning', {
      check: 'leader.clock',
      found: `when it began to lead, its clock was ${Math.abs(Math.round(skewMs))} ms ${skewMs >= 0 ? 'ahead of' : 'behind'} that of Redis`,
      cure: 'Ticks follow the clock of Redis, but its logs and versions of schedules do not: let the host keep time by NTP.',
    }),
  ]
}

function judgeWorkers({ workers, queues, nowMs }: WorkHealth, version: string): Finding[] {
  const served = new Set(workers.flatMap((worker) => worker.queues))
  const others = new Set(workers.map((each) => each.version).filter((each) => each !== version))
  const ahead = workers.filter(({ seenAt }) => Date.parse(seenAt) - nowMs > MOST_SKEW_MS)
  const findings = [
    findingIf(workers.length === 0, 'broken', {
      check: 'workers',
      found: `${workers.length} workers live`,
      cure: 'No run is made: start a worker.',
    }),
    findingIf(others.size > 0, 'warning', {
      check: 'workers.version',
      found:
        others.size === 0
          ? `all of version ${version}`
          : `some of version ${[...others].join(', ')}; the api is ${version}`,
      cure: 'While a release is rolled out that is right; else bring all to one version.',
    }),
    findingIf(ahead.length > 0, 'warning', {
      check: 'workers.clock',
      found:
        ahead.length === 0
          ? 'no clock is ahead of that of Redis'
          : `clocks ahead of Redis: ${ahead.map(({ instance }) => instance).join(', ')}`,
      cure: 'Let these hosts keep time by NTP.',
    }),
  ]
  for (const { name, waiting } of queues)
    if (waiting > 0 && !served.has(name) && workers.length > 0)
      findings.push({
        check: `queue.${name}`,
        status: 'broken',
        found: `${waiting} runs wait in ${name}, and no worker serves it`,
        cure: `Start a worker that serves it, or add ${name} to JADWAL_QUEUES of one.`,
      })
  return findings
}

/** A recorder that works has nothing to do with entries as old as this. */
const STUCK_MS = MINUTE

function judgeOutboxes({ queues, schedulerOutbox }: WorkHealth): Finding[] {
  const all = [...queues, { name: 'scheduler', ...schedulerOutbox }]
  const stuck = all.filter(({ oldestMs }) => oldestMs > STUCK_MS)
  const refused = all.filter(({ rejected }) => rejected > 0)
  const depth = all.reduce((sum, each) => sum + each.depth, 0)
  const told = stuck.map(
    ({ name, depth: own, oldestMs }) =>
      `${name} (${own} entries, the first one ${Math.round(oldestMs / SECOND)} s old)`,
  )
  return [
    findingIf(stuck.length > 0, 'broken', {
      check: 'outboxes',
      found:
        stuck.length === 0
          ? `${depth} entries on their way to Postgres`
          : `stuck: ${told.join(', ')}`,
      cure: 'Start a recorder, or see in its log why it does not move them: is Postgres away? Facts wait in Redis meanwhile, and take its memory.',
    }),
    findingIf(refused.length > 0, 'warning', {
      check: 'outboxes.rejected',
      found:
        refused.length === 0
          ? 'Postgres refused no fact'
          : `facts that Postgres refused: ${refused.map(({ name, rejected }) => `${rejected} of ${name}`).join(', ')}`,
      cure: 'They are kept in the stream …:outbox-rejected of the queue, each with its error: see GUARANTEES.md.',
    }),
  ]
}
