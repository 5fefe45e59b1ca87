import {
  copyLetters,
  findLetters,
  type LetterCopy,
  notEnded,
  type RunRow,
  type SettledLetterRow,
} from '@jadwal/db'
import { redriveRunId } from '@jadwal/domain'
import {
  type DiscardResult,
  listQueues,
  type LetterToRedrive,
  locateLetters,
  readCatalogue,
  type RedriveRefusal,
} from '@jadwal/queue'
import type { ApiDeps } from './api-deps.ts'
import { askHistory, askHistoryIfThere, askRedis } from './ask.ts'

/** Letters, with all that they carry, in memory at a time. */
const AT_ONCE = 100

/** What became of one letter. */
export type Settling =
  | { id: string; redrivenAs: string }
  | { id: string; discarded: true }
  | { id: string; refused: Refusal; detail: string }

/** What became of letters, in the order of the ids. */
export interface Settled {
  items: Settling[]
  /** What was so of each before: it was dead, or what had become of it already. */
  before: (Settling | { id: string; state: 'dead' })[]
}

export type Refusal =
  | RedriveRefusal
  | 'redriven'
  | 'redrive-begun'
  | 'not-dead'
  | 'not-found'
  | 'history-unavailable'

type Found = { letter: LetterToRedrive } | { settling: Settling }
type Known = { run?: RunRow; settled?: SettledLetterRow }

/**
 * Redrives dead letters, in the order of the ids. Redis alone is enough for those that have their
 * letter there; Postgres knows also of the others, and of what was decided long ago.
 */
export async function redriveById(
  deps: ApiDeps,
  ids: readonly string[],
  by: string,
): Promise<Settled> {
  return await inPages(ids, (page) => redrivePage(deps, page, by))
}

/** Discards dead letters, in the order of the ids. */
export async function discardById(
  deps: ApiDeps,
  ids: readonly string[],
  request: { by: string; reason: string },
): Promise<Settled> {
  return await inPages(ids, (page) => discardPage(deps, page, request))
}

async function inPages(
  ids: readonly string[],
  settle: (page: readonly string[]) => Promise<Page>,
): Promise<Settled> {
  const items: Settling[] = []
  const before: Settled['before'] = []
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const page = await settle(ids.slice(from, from + AT_ONCE))
    items.push(...page.items)
    for (const item of page.items)
      before.push(page.settledNow.has(item.id) ? { id: item.id, state: 'dead' } : item)
  }
  return { items, before }
}

interface Page {
  items: Settling[]
  /** The ids of those that were settled by this, and not before. */
  settledNow: ReadonlySet<string>
}

function newOnes(results: readonly { id: string; isNew?: boolean }[]): ReadonlySet<string> {
  return new Set(results.filter(({ isNew }) => isNew).map(({ id }) => id))
}

async function redrivePage(deps: ApiDeps, ids: readonly string[], by: string): Promise<Page> {
  const { redis, prefix, deadLetters } = deps
  const found = await find(deps, ids)
  const letters = [...found.values()].flatMap((each) => ('letter' in each ? [each.letter] : []))
  const jobs = await askRedis(() => readCatalogue(redis, prefix))
  const byName = new Map(jobs.map((job) => [job.name, job]))
  const results = await deadLetters.redrive(letters, { by, jobOf: (job) => byName.get(job) })
  const settled = new Map<string, Settling>(
    results.map((result) => [
      result.id,
      'refused' in result
        ? refusal(result.id, result.refused, result.detail ?? result.job)
        : { id: result.id, redrivenAs: result.redrivenAs },
    ]),
  )
  return { items: inOrder(ids, found, settled), settledNow: newOnes(results) }
}

async function discardPage(
  deps: ApiDeps,
  ids: readonly string[],
  request: { by: string; reason: string },
): Promise<Page> {
  const found = await find(deps, ids)
  const letters = [...found.values()].flatMap((each) => ('letter' in each ? [each.letter] : []))
  const results = await deps.deadLetters.discard(letters, request)
  const settled = new Map<string, Settling>(
    results.map((result) => [result.id, discarding(result)]),
  )
  for (const [id, each] of found) {
    if (!('settling' in each)) continue
    const { settling } = each
    if ('redrivenAs' in settling) settled.set(id, refusal(id, 'redriven'))
    if ('refused' in settling && settling.refused === 'discarded')
      settled.set(id, { id, discarded: true })
  }
  return { items: inOrder(ids, found, settled), settledNow: newOnes(results) }
}

function discarding(result: DiscardResult): Settling {
  const { id } = result
  if (result.discarded) return { id, discarded: true }
  return refusal(id, 'isBegun' in result ? 'redrive-begun' : 'redriven')
}

/**
 * Where each letter is. What Postgres has as redriven is looked for too: a Redis that lost its latest
 * writes has the letter again, and maybe not the new run.
 */
async function find(deps: ApiDeps, ids: readonly string[]): Promise<Map<string, Found>> {
  const { db, redis, prefix } = deps
  const history: ReadonlyMap<string, Known> | undefined = await askHistoryIfThere(() =>
    findLetters(db, ids),
  )
  const inHistory = ids.filter((id) => isDead(history?.get(id)))
  const elsewhere = ids.filter((id) => !isDead(history?.get(id)))
  const queues = elsewhere.length === 0 ? [] : await askRedis(() => listQueues(redis, prefix))
  const located = await askRedis(() => locateLetters(redis, prefix, { ids: elsewhere, queues }))
  const known = [...inHistory, ...(history ? located.keys() : [])].map((id) => redriveRunId(id))
  const going = new Set<string>(await askHistory(() => notEnded(db, known)))
  const hasEnded = (id: string): boolean => history !== undefined && !going.has(redriveRunId(id))
  const dead = inHistory.flatMap((id) => history?.get(id)?.run ?? [])
  const copies = await askHistory(() => copyLetters(db, dead))
  const found = new Map<string, Found>()
  for (const id of ids) {
    const { run, settled } = history?.get(id) ?? {}
    const queue = located.get(id)
    if (settled?.discard_reason != null) found.set(id, { settling: refusal(id, 'discarded') })
    else if (queue !== undefined) found.set(id, { letter: { id, queue, hasEnded: hasEnded(id) } })
    else if (settled?.redriven_as != null)
      found.set(id, { settling: { id, redrivenAs: settled.redriven_as } })
    else if (run?.state === 'dead')
      found.set(id, { letter: { ...letterOf(run, copies), hasEnded: hasEnded(id) } })
    else if (run) found.set(id, { settling: refusal(id, 'not-dead', run.state) })
    else found.set(id, { settling: refusal(id, history ? 'not-found' : 'history-unavailable') })
  }
  return found
}

/** Its row says where the letter is. */
function isDead(known: Known | undefined): boolean {
  return known?.run?.state === 'dead' && known.settled === undefined
}

function letterOf(run: RunRow, copies: ReadonlyMap<string, LetterCopy>): LetterToRedrive {
  const copy = copies.get(run.id)
  return { id: run.id, queue: run.queue, ...(copy ? { copy } : {}) }
}

function inOrder(
  ids: readonly string[],
  found: ReadonlyMap<string, Found>,
  settled: ReadonlyMap<string, Settling>,
): Settling[] {
  return ids.flatMap((id) => {
    const each = found.get(id)
    return settled.get(id) ?? (each && 'settling' in each ? each.settling : [])
  })
}

const DETAILS: Record<Refusal, (about: string) => string> = {
  'no-letter': () => 'Redis has no dead letter of this run any more.',
  'unknown-job': (job) => `No worker has served the job ${job} yet.`,
  discarded: () => 'The dead letter was discarded.',
  redacted: (why) => `${why}, so it can not be redriven: enqueue the run anew.`,
  'not-decryptable': (why) => `It can not be redriven: ${why}.`,
  redriven: () => 'The dead letter was redriven.',
  'redrive-begun': () =>
    'Its redrive was begun and cut short, so it can not be discarded: redrive it again.',
  'not-dead': (state) => `The run is ${state}.`,
  'not-found': () => 'There is no run with this id.',
  'history-unavailable': () =>
    'Redis has no dead letter of this run, and Postgres cannot be asked right now.',
}

function refusal(id: string, refused: Refusal, about = ''): Settling {
  return { id, refused, detail: DETAILS[refused](about) }
}
