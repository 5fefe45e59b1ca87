import { type Admission, keyLot, type StartedRun } from '@jadwal/queue'
import type { KeyLimit } from '@jadwal/sdk'
import type { AttemptInput } from '@jadwal/sdk/attempts'

/** So much of a key is shown in the history. */
const SHOWN_LENGTH = 200

export type TakeSlot = (run: StartedRun, slot: { lot: string; limit: number }) => Promise<Admission>

/** A job's key function returned something that is no key. It fails the attempt. */
class ConcurrencyKeyError extends TypeError {
  override name = 'ConcurrencyKeyError'
  readonly code = 'CONCURRENCY_KEY'

  constructor(job: string, value: unknown) {
    const given = value instanceof Promise ? 'a promise' : value === null ? 'null' : typeof value
    super(
      `concurrency.key of the job ${job} returned ${given}; it must return a string, '' for no limit`,
    )
  }
}

/**
 * Lets a run of a job that limits its keys go when its key has a slot left, and notes the key for the
 * history. `threw` when the job's key function fails, which is as if its handler had thrown.
 */
export async function awaitTurn(
  takeSlot: TakeSlot,
  run: StartedRun,
  {
    name,
    concurrency,
    input,
  }: { name: string; concurrency: KeyLimit<unknown>; input: AttemptInput },
): Promise<
  { kind: 'go' } | { kind: Exclude<Admission, 'go'> } | { kind: 'threw'; error: unknown }
> {
  let key: unknown
  try {
    key = concurrency.key(input.payload)
  } catch (error) {
    return { kind: 'threw', error }
  }
  if (typeof key !== 'string') return { kind: 'threw', error: new ConcurrencyKeyError(name, key) }
  if (key === '') return { kind: 'go' }
  const shown = input.mask ? input.mask(key) : key
  run.concurrencyKey = shown.slice(0, SHOWN_LENGTH)
  const lot = keyLot(name, key, shown !== key)
  const taken = await takeSlot(run, { lot, limit: concurrency.limit })
  return { kind: taken }
}
