import { isRedacted, redriveRunId, type RunId } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { bullPrefix, outboxKey, settledKey } from './keys.ts'
import { MissingKeyError, UnreadableEnvelopeError } from './errors.ts'
import type { QueueOpener } from './open-queue.ts'
import type { Patience } from './patience.ts'
import type { PayloadCipher } from './payload-cipher.ts'
import { lettersAtOnce } from './letters-at-once.ts'
import { type Decision, readDecision, readLetters } from './read-letters.ts'
import {
  type DeadRunCopy,
  type Decider,
  letterFact,
  type RedrivenJob,
  redrivenRun,
  type RedrivenRun,
} from './redriven-run.ts'
import { registerQueues } from './registry.ts'
import { type RedriveCall, sendRedrive } from './send-redrive.ts'

/** Bytes of what is sent for letters in one call of a script. Redis does nothing else meanwhile. */
const AT_ONCE_BYTES = 4 * 1024 * 1024

export interface LetterToRedrive {
  /** Of the dead run. */
  id: string
  /** Where it died. */
  queue: string
  /** What to make the new run of when Redis has the letter no more. */
  copy?: DeadRunCopy
  /** The history has the end of the new run: it is not to be made again. */
  hasEnded?: boolean
}

export interface RedriveRequest extends Decider {
  /** A job as it is served by now; undefined when nobody serves it. */
  jobOf: (job: string) => RedrivenJob | undefined
}

export type RedriveResult =
  /** `isNew`: by this call, as far as known; else it had been before. */
  { id: string; redrivenAs: RunId; isNew: boolean } | Refused

interface Refused {
  id: string
  refused: RedriveRefusal
  job?: string
  /** What is the matter, in words. */
  detail?: string
}

/**
 * Redis has no such letter (any more); nobody serves its job; somebody discarded it; only its row is left,
 * which lacks what its job redacts; its payload can't be decrypted, or not be encrypted anew.
 */
export type RedriveRefusal =
  | 'no-letter'
  | 'unknown-job'
  | 'discarded'
  | 'redacted'
  | 'not-decryptable'

interface Deps {
  redis: Redis
  prefix: string
  opener: QueueOpener
  patience: Patience
  cipher: PayloadCipher | undefined
}

/** One letter on its way. */
interface Redriving {
  id: string
  from: string
  target: string
  job: string
  priority: number
  run: RedrivenRun
  hasEnded: boolean
}

/** Redrives letters, with their facts, in the order given. Safe to repeat after whatever happened. */
export async function redriveLetters(
  deps: Deps,
  letters: readonly LetterToRedrive[],
  request: RedriveRequest,
): Promise<RedriveResult[]> {
  const { redis, prefix, patience } = deps
  const results = new Map<string, RedriveResult>()
  const found = await patience.for(readLetters(redis, prefix, letters))
  const groups = new Map<string, Redriving[]>()
  for (const [at, letter] of letters.entries()) {
    const copy = found[at] ?? rowCopy(letter)
    const one = redriving(letter, copy, { ...request, cipher: deps.cipher })
    if ('refused' in one) {
      results.set(letter.id, (await decidedBefore(deps, letter, request)) ?? one)
      continue
    }
    const key = JSON.stringify([one.from, one.target])
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  for (const group of groups.values()) {
    const most = await patience.for(lettersAtOnce(redis, prefix, group[0]?.from ?? ''))
    for (const batch of batches(group, most))
      for (const result of await redriveBatch(deps, batch, request)) results.set(result.id, result)
  }
  return letters.flatMap(({ id }) => results.get(id) ?? [])
}

/** A letter that can't be redriven may have been before; then that is told once more, as the script does. */
async function decidedBefore(
  { redis, prefix, patience }: Deps,
  { id, queue }: LetterToRedrive,
  request: Decider,
): Promise<RedriveResult | undefined> {
  const kept = await patience.for(redis.get(settledKey(prefix, queue, id)))
  const decision = readDecision(id, kept)
  if (!decision) return undefined
  const fact = decisionFact(id, decision, request)
  await patience.for(redis.xadd(outboxKey(prefix, queue), '*', 'facts', fact))
  return toResult(id, decision)
}

function decisionFact(id: string, decision: Decision, request: Decider): string {
  if (decision.kind === 'redriven')
    return letterFact(id, request, { redrivenAs: decision.redrivenAs })
  const { at, by, reason } = decision
  return letterFact(id, { by, nowMs: Date.parse(at) }, { reason })
}

/** What the history has of a dead run. */
function rowCopy({ copy }: LetterToRedrive): DeadRunCopy | undefined {
  return copy && { ...copy, lacksValues: isRedacted(copy.message.payload) }
}

/** The new run of a letter, or why there can be none. */
function redriving(
  { id, queue: from, hasEnded = false }: LetterToRedrive,
  copy: DeadRunCopy | undefined,
  { jobOf, cipher, nowMs }: RedriveRequest & Pick<Deps, 'cipher'>,
): Redriving | Refused {
  if (!copy) return { id, refused: 'no-letter' }
  const { job, priority } = copy
  const to = jobOf(job)
  if (!to) return { id, refused: 'unknown-job', job }
  if (copy.lacksValues) return { id, refused: 'redacted', detail: LACKS_VALUES }
  try {
    const run = redrivenRun(id, copy, { to, cipher, nowMs })
    return { id, from, target: to.queue, job, priority, run, hasEnded }
  } catch (error) {
    if (!(error instanceof MissingKeyError || error instanceof UnreadableEnvelopeError)) throw error
    return { id, refused: 'not-decryptable', detail: error.message }
  }
}

const LACKS_VALUES =
  'Redis has no dead letter of this run any more, and the history does not have the values that its job redacts'

/** Letters of one queue whose new runs go to one queue. */
async function redriveBatch(
  deps: Deps,
  batch: readonly Redriving[],
  request: RedriveRequest,
): Promise<RedriveResult[]> {
  const [first] = batch
  if (!first) return []
  const { from, target } = first
  await deps.patience.for(registerQueues(deps.redis, deps.prefix, [target]))
  const queue = await deps.opener.open(target, {
    prefix: bullPrefix(deps.prefix, target),
    skipMetasUpdate: true,
  })
  const send = async (
    runs: readonly Redriving[],
    call: Pick<RedriveCall, 'steps' | 'keysOf'>,
  ): Promise<(string | 1)[]> => await sendRedrive(deps, { ...call, queue, decider: request }, runs)
  if (from === target) {
    const said = await send(batch, { steps: 'claim add settle', keysOf: from })
    return await outcomes(deps, { batch, said }, request)
  }
  const claimed = await send(batch, { steps: 'claim', keysOf: from })
  const ours = batch.filter((_, at) => claimed[at] === 1)
  if (ours.length === 0) return await outcomes(deps, { batch, said: claimed }, request)
  await send(ours, { steps: 'add', keysOf: target })
  const settled = await send(ours, { steps: 'settle', keysOf: from })
  const said = claimed.map((word) => (word === 1 ? (settled.shift() ?? word) : word))
  return await outcomes(deps, { batch, said }, request)
}

/** What a claim says of each letter; those that are on their way to another queue are brought there. */
async function outcomes(
  deps: Deps,
  { batch, said }: { batch: readonly Redriving[]; said: readonly (string | 1)[] },
  request: RedriveRequest,
): Promise<RedriveResult[]> {
  const results: RedriveResult[] = []
  for (const [at, one] of batch.entries()) {
    const word = said[at]
    const decision = readDecision(one.id, word)
    if (word === 1) results.push({ id: one.id, redrivenAs: one.run.id, isNew: true })
    else if (decision) results.push(toResult(one.id, decision))
    else if (word?.startsWith('claimed ')) {
      const target = word.slice('claimed '.length)
      const run = { ...one.run, fact: withQueue(one.run.fact, target) }
      results.push(...(await redriveBatch(deps, [{ ...one, target, run }], request)))
    } else throw new Error(`no answer about the dead letter ${one.id}`)
  }
  return results
}

function withQueue(fact: string, queue: string): string {
  return JSON.stringify({ ...(JSON.parse(fact) as object), queue })
}

function toResult(id: string, decision: Decision): RedriveResult {
  if (decision.kind === 'discarded') return { id, refused: 'discarded' }
  return { id, redrivenAs: redriveRunId(id), isNew: false }
}

function* batches(letters: readonly Redriving[], most: number): Generator<Redriving[]> {
  let batch: Redriving[] = []
  let bytes = 0
  for (const each of letters) {
    const size = 2 * each.run.fact.length
    if (batch.length === most || (batch.length > 0 && bytes + size > AT_ONCE_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(each)
    bytes += size
  }
  if (batch.length > 0) yield batch
}
