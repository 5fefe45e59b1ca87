import type { RecordedFacts } from '@jadwal/db'
import type { RunEventType } from '@jadwal/domain'
import {
  appendEvents,
  appendRunEvents,
  areRunEventsWanted,
  isRedisTrouble,
  type JadwalEvent,
  type RunEvent,
} from '@jadwal/queue'
import { sleep } from '@jadwal/runtime'
import type { Redis } from 'ioredis'

type Told = NonNullable<RecordedFacts['told']>

/** Events of one statement's dead runs; the last one says how many others there were. */
const MOST_DEAD = 50
/** Meanwhile Postgres holds the rows. */
const PATIENCE_MS = 2_000

const TYPES = {
  running: 'run.started',
  retrying: 'run.retrying',
  succeeded: 'run.succeeded',
  cancelled: 'run.cancelled',
} as const satisfies Record<string, RunEventType>

/** Tells of what is recorded of runs: of dead ones always, of all others while somebody listens. */
export class RunTeller {
  readonly #deps: { redis: Redis; prefix: string; onError: (error: unknown) => void }
  #isWanted = false

  constructor(deps: { redis: Redis; prefix: string; onError: (error: unknown) => void }) {
    this.#deps = deps
  }

  /** Looks whether anybody listens: to be called each second or so. */
  async look(): Promise<void> {
    const { redis, prefix } = this.#deps
    this.#isWanted = await areRunEventsWanted(redis, prefix)
  }

  /** Whether facts may have to be told of. */
  isNeededFor(lines: readonly string[]): boolean {
    return this.#isWanted || lines.some((line) => line.includes('"state":"dead"'))
  }

  /**
   * Raises the events of dead runs: before their rows count, so that each is raised at least once. A
   * Redis that refuses them is passed over, since it may be full, and recording makes room. Rejects when
   * Redis does not answer.
   */
  async tellDead(told: Told): Promise<void> {
    const { redis, prefix, onError } = this.#deps
    const dead = told.filter(({ state }) => state === 'dead')
    if (dead.length === 0) return
    const events = dead.slice(0, MOST_DEAD).map(deadEvent)
    const last = events.at(-1)
    if (last && dead.length > events.length) last.data['more'] = dead.length - events.length
    try {
      await Promise.race([appendEvents(redis, prefix, events), tooLate()])
    } catch (error) {
      if (!(error instanceof Error) || isNoAnswer(error)) throw error
      onError(error)
    }
  }

  /** Tells those who listen of all others. Never rejects: who misses it finds it in the history. */
  async tellOthers(told: Told): Promise<void> {
    if (!this.#isWanted) return
    const { redis, prefix, onError } = this.#deps
    await Promise.race([appendRunEvents(redis, prefix, told.flatMap(runEvent)), tooLate()]).catch(
      onError,
    )
  }
}

class NoAnswerError extends Error {
  override name = 'NoAnswerError'
}

async function tooLate(): Promise<never> {
  await sleep(PATIENCE_MS)
  throw new NoAnswerError(`Redis took no event within ${PATIENCE_MS} ms`)
}

/** Nobody knows whether it was appended. */
function isNoAnswer(error: Error): boolean {
  return error instanceof NoAnswerError || isRedisTrouble(error)
}

function deadEvent({ ...data }: Told[number]): JadwalEvent {
  return { type: 'run.dead', at: data.finishedAt ?? data.enqueuedAt, data: { ...data } }
}

function runEvent(told: Told[number]): RunEvent[] {
  if (told.state === 'dead') return []
  const at = told.finishedAt ?? told.startedAt ?? told.enqueuedAt
  return [{ type: TYPES[told.state], at, data: { ...told } }]
}
