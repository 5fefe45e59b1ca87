import { revision, type RunReason } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { type FoundRun, readMessage } from './find-run.ts'
import { TELL_END } from './follow-lua.ts'
import { bullKey, cancelChannel, cancelsKey, companionPrefix, outboxKey } from './keys.ts'
import { LEAVE_SLOT } from './lot-lua.ts'
import { OUTCOME_FIELD } from './outcome-record.ts'
import { factLine } from './run-fact.ts'
import { MOST_LOST_TOLD } from './run-take-up.ts'
import { LEAVE_SCHEDULE, TAKE_OUT } from './unfinished-lua.ts'

/**
 * A run is cancelled in two steps. First a mark that outlives every process, and a message to the
 * workers. Then whoever can: a worker that has it in hand aborts its handler; a run that waits, for a
 * worker, for its time or for a retry, is taken out here, with its fact, in one script. The leader
 * looks after marks that nobody carried out.
 */
export type CancelReason = Extract<RunReason, 'cancelled' | 'superseded'>

export type CancelResult =
  /** It waited, and has ended. */
  | 'cancelled'
  /** A worker has it in hand, and is told. */
  | 'cancelling'
  /** It had ended before, or there never was such a run in this queue. */
  | 'gone'

/** What came of a wish to cancel a run. */
export interface CancelledRun {
  result: CancelResult
  /** How the run was when it was marked; `cancelling` when somebody had marked it. Absent when it was gone. */
  before?: 'queued' | 'retrying' | 'running' | 'cancelling'
}

/** A run that comes to be taken up while it is looked at is looked at again, this often. */
const LOOKS = 5

/*
 * Marks a run as to be cancelled.
 *   KEYS[1] the run's message  KEYS[2] cancels (HASH)  KEYS[3] active (LIST)
 *   ARGV[1] id  ARGV[2] reason  ARGV[3] cancel channel
 *   Returns how the run was, `cancelling` when it was marked before; or false when there is no such
 *   message, or its outcome is written.
 */
const MARK = `
local message = redis.call('HMGET', KEYS[1], 'name', '${OUTCOME_FIELD}', 'atm')
if not message[1] then return false end
local kind = string.match(message[2] or '', '^%d+:(%a+)')
if kind == 'succeeded' or kind == 'dead' or kind == 'cancelled' then return false end
local isNew = redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2]) == 1
redis.call('PUBLISH', ARGV[3], ARGV[1] .. ' ' .. ARGV[2])
if not isNew then return 'cancelling' end
if redis.call('LPOS', KEYS[3], ARGV[1]) then return 'running' end
return tonumber(message[3] or '0') > 0 and 'retrying' or 'queued'
`

const Marked = z.enum(['queued', 'retrying', 'running', 'cancelling']).nullable()

/*
 * Ends a run that waits as cancelled, unless a worker has taken it up since its message was read.
 *   KEYS[1] outbox  KEYS[2] cancels  KEYS[3] prefix of the message keys  KEYS[4] prefix of the queue's companions
 *   ARGV[1] id  ARGV[2] how often it had been started  ARGV[3] fact  ARGV[4] whose unfinished run it was or ''
 *   Attempts since its last outcome ended without a word: they are told as lost.
 *   Returns 1; 0 when it does not wait; -1 when it is gone.
 */
const TAKE = `${TAKE_OUT}${LEAVE_SCHEDULE}${LEAVE_SLOT}${TELL_END}
local message = KEYS[3] .. ARGV[1]
if redis.call('EXISTS', message) == 0 then
  redis.call('HDEL', KEYS[2], ARGV[1])
  return -1
end
if (redis.call('HGET', message, 'ats') or '0') ~= ARGV[2] or takeOut(KEYS[3], ARGV[1]) == 0 then return 0 end
local outcome = redis.call('HGET', message, '${OUTCOME_FIELD}') or ''
local facts, told = {}, tonumber(string.match(outcome, '^%d+') or 0)
local attempts = tonumber(ARGV[2])
for attempt = math.max(told, attempts - ${MOST_LOST_TOLD}) + 1, attempts do
  facts[#facts + 1] = cjson.encode({ kind = 'attempt', id = ARGV[1], attempt = attempt, attempt_state = 'lost' })
end
facts[#facts + 1] = ARGV[3]
redis.call('XADD', KEYS[1], '*', 'facts', table.concat(facts, '\\n'))
leaveSlot(KEYS[3], KEYS[4], ARGV[1])
redis.call('DEL', message, message .. ':logs', message .. ':dependencies', message .. ':processed')
redis.call('HDEL', KEYS[2], ARGV[1])
if ARGV[4] ~= '' then leaveSchedule(KEYS[3], KEYS[4], ARGV[4], ARGV[1]) end
tellEnd(KEYS[4], ARGV[1], ARGV[3])
return 1
`

export interface CancelDeps {
  redis: Redis
  prefix: string
  /** ISO 8601. */
  nowIso: string
}

/** Marks a run as to be cancelled, and cancels it at once if it waits. */
export async function cancelRun(
  deps: CancelDeps,
  run: { queue: string; id: string },
  reason: CancelReason,
): Promise<CancelledRun> {
  const { redis, prefix } = deps
  const { queue, id } = run
  const keys = [bullKey(prefix, queue, id), cancelsKey(prefix, queue)]
  keys.push(bullKey(prefix, queue, 'active'))
  const channel = cancelChannel(prefix, queue)
  const marked = await redis.eval(MARK, keys.length, ...keys, id, reason, channel)
  const before = Marked.parse(marked)
  if (before === null) return { result: 'gone' }
  const result = await carryOut(deps, run, reason)
  // A worker that was told was quicker than we.
  return { before, result: result === 'gone' ? 'cancelling' : result }
}

/** Cancels a run if it waits; one that a worker has in hand goes on. */
export async function cancelWaitingRun(
  deps: CancelDeps,
  run: { queue: string; id: string },
): Promise<CancelResult> {
  return await carryOut(deps, run, 'cancelled')
}

/** Carries out what can be of a queue's marks. Returns how many runs were cancelled so. */
export async function carryOutCancels(deps: CancelDeps, queue: string): Promise<number> {
  const marks = await deps.redis.hgetall(cancelsKey(deps.prefix, queue))
  let cancelled = 0
  for (const [id, reason] of Object.entries(marks)) {
    const result = await carryOut(deps, { queue, id }, readReason(reason))
    if (result === 'cancelled') cancelled += 1
  }
  return cancelled
}

export function readReason(text: string | null | undefined): CancelReason {
  return text === 'superseded' ? 'superseded' : 'cancelled'
}

async function carryOut(
  { redis, prefix, nowIso }: CancelDeps,
  { queue, id }: { queue: string; id: string },
  reason: CancelReason,
): Promise<CancelResult> {
  const keys = [
    outboxKey(prefix, queue),
    cancelsKey(prefix, queue),
    bullKey(prefix, queue, ''),
    companionPrefix(prefix, queue),
  ]
  for (let look = 0; look < LOOKS; look += 1) {
    const run = await readMessage(redis, prefix, { queue, id })
    if (run?.state === 'running') return 'cancelling'
    const facts = run ? [String(run.attempt), cancelledFact(run, reason, nowIso)] : ['', '']
    const owner = run?.backfill_id ?? run?.schedule_id ?? ''
    const taken = await redis.eval(TAKE, keys.length, ...keys, id, ...facts, owner)
    if (taken === 1) return 'cancelled'
    if (taken === -1 || !run) return 'gone'
  }
  return 'cancelling'
}

function cancelledFact(run: FoundRun, reason: CancelReason, nowIso: string): string {
  const { progress: _, ...fact } = run
  return factLine({
    ...fact,
    state: 'cancelled',
    reason,
    revision: revision(run.attempt, 'cancelled'),
    finished_at: nowIso,
    attempt_state: null,
  })
}
