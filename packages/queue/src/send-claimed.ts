import { RunId } from '@jadwal/domain'
import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { bullScripts, TemplateList } from './bull-scripts.ts'
import { claimScript } from './claim-script.ts'
import { type Conflict, IdempotencyConflictError } from './errors.ts'
import { FOLLOWED_MS } from './follow-lua.ts'
import { bullKey, companionPrefix, idClaimKey, idempotencyClaimKey, outboxKey } from './keys.ts'
import { fitsTemplate } from './message-template.ts'
import { delayedFact, type RunDraft } from './run-draft.ts'

const COMMAND = 'jadwalEnqueueClaimed'

type Scripted = Redis & { [COMMAND]?: (...args: (string | number)[]) => Promise<string[]> }

/** A run's key or id belongs to an earlier one. */
export class ClaimedOtherwise extends Error {
  readonly draft: RunDraft
  readonly field: Conflict['field']
  readonly runId: string
  /** As of a `Conflict`. */
  readonly problem: string | undefined

  constructor(
    draft: RunDraft,
    { field, runId, problem }: Pick<Conflict, 'field' | 'runId' | 'problem'>,
  ) {
    super(`the ${field} of ${draft.id} belongs to ${runId}`)
    this.draft = draft
    this.field = field
    this.runId = runId
    this.problem = problem
  }

  /** As the caller is told who enqueued all of these. */
  toConflict(drafts: readonly RunDraft[]): IdempotencyConflictError {
    const { draft, field, runId, problem } = this
    const value = field === 'id' ? draft.id : (draft.claim?.key ?? '')
    const index = drafts.indexOf(draft)
    return new IdempotencyConflictError({ field, value, runId, problem, index })
  }
}

/**
 * Sends a batch of runs of which some have an idempotency key or an id of their client's, or are to be
 * followed. Resolves to those that are there already, with the id. Throws `ClaimedOtherwise`, and then
 * nothing was done.
 */
export async function sendClaimed(
  queue: Queue,
  { redis, prefix }: { redis: Redis; prefix: string },
  batch: readonly RunDraft[],
): Promise<[RunDraft, RunId][]> {
  const { texts, numbers } = bullScripts(redis)
  const scripted = redis as Scripted
  if (!scripted[COMMAND]) redis.defineCommand(COMMAND, { numberOfKeys: 2, lua: claimScript(texts) })
  const templates = new TemplateList(queue, numbers)
  const args: (string | number)[] = []
  for (const draft of batch) {
    const { id, job, bull, message, claim, delayMs } = draft
    if (!fitsTemplate(id)) throw new Error(`${id} is no id of a run`)
    args.push(templates.known(job, bull) ?? (await templates.make(job, bull)))
    args.push(id, JSON.stringify(message), ...claimKeys(prefix, draft), claim?.hash ?? '')
    args.push(claim?.follow === true ? FOLLOWED_MS + Math.round(delayMs) : '')
    args.push(delayedFact(draft) ?? '')
  }
  const base = bullKey(prefix, queue.name, '')
  const keys = [base, outboxKey(prefix, queue.name)]
  const about = [base, companionPrefix(prefix, queue.name), templates.toJson()]
  const reply = (await scripted[COMMAND]?.(...keys, ...about, ...args)) ?? []
  if (reply[0] === 'conflict') throw claimedOtherwise(batch, reply)
  return batch.flatMap((draft, at) => (reply[at] ? [[draft, RunId.parse(reply[at])]] : []))
}

/**
 * Looks whether any of the runs meets an earlier one of another job or payload, so that of many
 * batches none is sent if one would be refused. Throws `ClaimedOtherwise`.
 */
export async function checkClaims(
  redis: Redis,
  prefix: string,
  drafts: readonly RunDraft[],
): Promise<void> {
  const asked = drafts.flatMap((draft) =>
    claimKeys(prefix, draft).flatMap((key, at) =>
      key === '' ? [] : [{ draft, key, field: FIELDS[at] ?? 'id' }],
    ),
  )
  const pipeline = redis.pipeline()
  for (const { key } of asked) pipeline.get(key)
  const replies = (await pipeline.exec()) ?? []
  const claims = new Map<string, string>()
  for (const [at, { draft, key, field }] of asked.entries()) {
    const [error, stored] = replies[at] ?? []
    if (error) throw error
    const hash = draft.claim?.hash ?? ''
    const claim = typeof stored === 'string' ? stored : (claims.get(key) ?? `${draft.id} ${hash}`)
    claims.set(key, claim)
    const [first = '', of] = claim.split(' ')
    if (of !== hash) throw new ClaimedOtherwise(draft, { field, runId: first })
  }
}

const FIELDS = ['id', 'idempotencyKey'] as const

/** The keys of the claims of a run's id and of its idempotency key, or ''. */
function claimKeys(prefix: string, { id, job, queue, claim }: RunDraft): [string, string] {
  const { byId = false, key } = claim ?? {}
  return [
    byId ? idClaimKey(prefix, queue, id) : '',
    key === undefined ? '' : idempotencyClaimKey(prefix, queue, { job, key }),
  ]
}

function claimedOtherwise(batch: readonly RunDraft[], reply: readonly unknown[]): Error {
  const [, position, field, runId] = reply
  const draft = batch[Number(position)]
  if (!draft) return new Error(`no run ${String(position)} was sent`)
  const of = field === 'id' ? 'id' : 'idempotencyKey'
  return new ClaimedOtherwise(draft, { field: of, runId: String(runId) })
}
