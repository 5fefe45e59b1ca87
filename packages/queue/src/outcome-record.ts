/**
 * What is stored in a message's hash (field `jo`) of its last attempt that ended with a word: whoever
 * takes the message next reads there what its predecessor did not get to tell BullMQ.
 */
export type StoredOutcome =
  | { kind: 'succeeded' | 'dead' | 'cancelled'; attempt: number }
  /** `failures` is how many the run has with this one; BullMQ's own count lags until it was told. */
  | { kind: 'retry'; attempt: number; failures: number; runAtMs: number }
  /** Put back by a worker that stopped. */
  | { kind: 'drained'; attempt: number }
  /**
   * Put back for a worker that knows the form of the message or its job, or that has no other suspect
   * in hand; stored as `parked`. `lost` is how many attempts before it were lost in a row: this is no outcome. `sinceMs`
   * is when a worker that does not know its job first did so; kept as long as none takes it that does.
   */
  | { kind: 'left-alone'; attempt: number; lost: number; sinceMs?: number | undefined }

/** The field of a message's hash that holds it. */
export const OUTCOME_FIELD = 'jo'

/** Whether the last attempt ended the run: BullMQ only has to be told. */
export function endsRun(outcome: StoredOutcome | undefined): boolean {
  return outcome?.kind === 'succeeded' || outcome?.kind === 'dead' || outcome?.kind === 'cancelled'
}

/** `3:succeeded`, `3:retry:2:1767225600000`, `3:parked`, `3:parked:2`, `3:parked:0:1767225600000`. */
export function writeStoredOutcome(outcome: StoredOutcome): string {
  if (outcome.kind === 'left-alone') {
    const { attempt, lost, sinceMs } = outcome
    if (sinceMs !== undefined) return `${attempt}:parked:${lost}:${sinceMs}`
    return lost > 0 ? `${attempt}:parked:${lost}` : `${attempt}:parked`
  }
  return outcome.kind === 'retry'
    ? `${outcome.attempt}:retry:${outcome.failures}:${outcome.runAtMs}`
    : `${outcome.attempt}:${outcome.kind}`
}

const FORM =
  /^(\d+):(?:(succeeded|dead|cancelled|drained)|retry:(\d+):(\d+)|parked(?::(\d+)(?::(\d+))?)?)$/

/** Undefined when nothing is stored or it can't be read. */
export function readStoredOutcome(text: string | null): StoredOutcome | undefined {
  const match = FORM.exec(text ?? '')
  if (!match) return undefined
  const attempt = Number(match[1])
  const kind = match[2] as 'succeeded' | 'dead' | 'cancelled' | 'drained' | undefined
  if (kind !== undefined) return { kind, attempt }
  if (match[3] === undefined) {
    const sinceMs = match[6] === undefined ? {} : { sinceMs: Number(match[6]) }
    return { kind: 'left-alone', attempt, lost: Number(match[5] ?? 0), ...sinceMs }
  }
  return { kind: 'retry', attempt, failures: Number(match[3]), runAtMs: Number(match[4]) }
}
