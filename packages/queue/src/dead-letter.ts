import { RunError, RunMessage, RunReason } from '@jadwal/domain'
import { z } from 'zod'

/** Why and when a run died. */
export const Death = z.object({
  reason: RunReason,
  error: RunError.optional(),
  attempt: z.int(),
  at: z.iso.datetime(),
})
export type Death = z.infer<typeof Death>

/** The data of a message in a dead-letter queue: the run's own, and its death. */
export const DeadLetter = RunMessage.extend({ death: Death })
export type DeadLetter = z.infer<typeof DeadLetter>

/** Field of a dead letter's hash: when the run died (ms), so that trimming need not read its data. */
export const DIED_AT_FIELD = 'jdied'

export interface DeadRun {
  job: string
  /** What the message carried. */
  data: object
  enqueuedAtMs: number
  failures: number
  /** 0 first … 1000 last. */
  priority?: number
  death: Death
}

/** Fields and values of the dead letter's hash, in the form of a message that BullMQ would have added. */
export function deadLetterFields(run: DeadRun): string[] {
  const { error } = run.death
  const hash = {
    name: run.job,
    data: JSON.stringify({ ...run.data, death: run.death }),
    opts: '{}',
    timestamp: String(run.enqueuedAtMs),
    delay: '0',
    priority: String(run.priority ?? 0),
    atm: String(run.failures),
    ats: String(run.death.attempt),
    [DIED_AT_FIELD]: String(Date.parse(run.death.at)),
    failedReason: `${run.death.reason}: ${error?.message ?? 'no error was recorded'}`,
    stacktrace: JSON.stringify(error?.stack === undefined ? [] : [error.stack]),
  }
  return Object.entries(hash).flat()
}

/**
 * Lua: `writeDeadLetter(prefix, id, at, n)` puts the letter of a run, whose hash is in ARGV[at] …
 * ARGV[at + n - 1], into the dead-letter queue with that key prefix, unless it is there already.
 */
export const WRITE_DEAD_LETTER = `
local function writeDeadLetter(prefix, id, at, n)
  local letter = prefix .. id
  if redis.call('EXISTS', letter) == 1 then return end
  redis.call('HSET', letter, unpack(ARGV, at, at + n - 1))
  redis.call('LPUSH', prefix .. 'wait', id)
end
`

/**
 * Lua: `removeDeadLetter(prefix, id)` takes a letter out of the dead-letter queue with that key prefix.
 * It is looked for from the end of the list that it is nearer to by when it died; the oldest are last.
 */
export const REMOVE_DEAD_LETTER = `
local function diedAtMs(letter)
  return tonumber(redis.call('HGET', letter, '${DIED_AT_FIELD}') or '')
end
local function isYoung(prefix, id)
  local first = redis.call('LINDEX', prefix .. 'wait', 0)
  if not first or first == id then return first == id end
  local last = redis.call('LINDEX', prefix .. 'wait', -1)
  local youngest, oldest, died = diedAtMs(prefix .. first), diedAtMs(prefix .. last), diedAtMs(prefix .. id)
  return youngest and oldest and died and youngest - died < died - oldest
end
local function removeDeadLetter(prefix, id)
  local from = isYoung(prefix, id) and 1 or -1
  if redis.call('UNLINK', prefix .. id, prefix .. id .. ':logs') > 0 then
    redis.call('LREM', prefix .. 'wait', from, id)
  end
end
`
