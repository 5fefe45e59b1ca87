import { type Fuse, fuseSteps, openTimesMs } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import type { Admission } from './admission.ts'
import { type FuseChange, readChange } from './fuse-change.ts'
import { FUSE, LOOK_EACH_MS } from './fuse-lua.ts'
import { bullKey, companionPrefix } from './keys.ts'
import { RUNS_WHEN_FULL } from './when-full.ts'

export type FuseState = 'closed' | 'open' | 'probing'

/** What a worker is told of a fuse whenever it asks. */
export interface FuseWord {
  state: FuseState
  /** What the question itself has changed. */
  changes: readonly FuseChange[]
}

/** How an attempt ended that was let through while the fuse was not closed; `sign` as `fuseSign` says. */
export interface ProbeEnd {
  id: string
  token: string
  sign: 'good' | 'bad' | undefined
}

/*
 * Every script has
 *   KEYS[1] prefix of the message keys  KEYS[2] prefix of the queue's companions
 * and returns the changes that it made as JSON, last.
 */

/*
 * Counts ended attempts of a job. What ioredis sends again after a lost answer counts twice, but for
 * probes: a rate by chance wrong by one turn of one worker is not worth a memory of all calls.
 *   ARGV[1] the fuse as JSON  ARGV[2] how many were good  ARGV[3] bad
 *   ARGV[4…] per probe: id, token, its sign or ''
 *   Returns the state.
 */
const COUNT = `${RUNS_WHEN_FULL}${FUSE}
local fuse, counts = readFuse(KEYS[1], KEYS[2], ARGV[1]), { good = tonumber(ARGV[2]), bad = tonumber(ARGV[3]) }
for i = 4, #ARGV, 3 do
  local sign = ARGV[i + 2]
  if fuse.state == 'probing' then probeEnded(fuse, ARGV[i], ARGV[i + 1], sign)
  elseif sign ~= '' then counts[sign] = counts[sign] + 1 end
end
if fuse.state == 'closed' then countInWindow(fuse, counts.good, counts.bad)
elseif fuse.state == 'probing' then settle(fuse) end
return { fuse.state, changes }
`

/*
 * Lets a run in hand through, or parks it. ioredis sends a call again that got no answer: by then the run
 * may lie in the lot, or be another worker's.
 *   ARGV[1] the fuse as JSON  ARGV[2] id  ARGV[3] token of the attempt
 *   Returns go, in-lot or lost (another has the run), and the state.
 */
const ADMIT = `${RUNS_WHEN_FULL}${FUSE}
local fuse, id, token, admission = readFuse(KEYS[1], KEYS[2], ARGV[1]), ARGV[2], ARGV[3], 'go'
if not isInHand(KEYS[1], id, token) then
  return { isParked(KEYS[1], fuse.lot, id) and 'in-lot' or 'lost', fuse.state, changes }
end
if not letThrough(fuse, id, token) then
  admission = parkInLot(KEYS[1], KEYS[2], { id = id, token = token, lot = fuse.lot }) and 'in-lot' or 'lost'
end
return { admission, fuse.state, changes }
`

/*
 * Looks after fuses.
 *   ARGV    each fuse as JSON
 *   Returns per fuse: its state, and in how many ms to look again at the latest.
 */
const LOOK = `${RUNS_WHEN_FULL}${FUSE}
local words = {}
local allClosed = redis.call('EXISTS', KEYS[2] .. 'fuses') == 0
for i, text in ipairs(ARGV) do
  if allClosed then words[i] = { 'closed', ${LOOK_EACH_MS} }
  else
    local fuse = readFuse(KEYS[1], KEYS[2], text)
    lookAfter(fuse)
    words[i] = { fuse.state, nextLookMs(fuse) }
  end
end
return { words, changes }
`

const COMMANDS = { count: 'jadwalFuseCount', admit: 'jadwalFuseAdmit', look: 'jadwalFuseLook' }

/** What a script says. */
type AskedAdmission = Exclude<Admission, 'drained'>

type Scripted = Redis & {
  jadwalFuseCount(...args: string[]): Promise<[FuseState, string[]]>
  jadwalFuseAdmit(...args: string[]): Promise<[AskedAdmission, FuseState, string[]]>
  jadwalFuseLook(...args: string[]): Promise<[[FuseState, number][], string[]]>
}

export type FuseScripts = ReturnType<typeof fuseScripts>

/** What is asked of the fuses of one queue, each in one script by the clock of Redis. `text` is a `fuseText`. */
export function fuseScripts(redis: Redis, prefix: string, queue: string) {
  redis.defineCommand(COMMANDS.count, { numberOfKeys: 2, lua: COUNT })
  redis.defineCommand(COMMANDS.admit, { numberOfKeys: 2, lua: ADMIT })
  redis.defineCommand(COMMANDS.look, { numberOfKeys: 2, lua: LOOK })
  const scripted = redis as Scripted
  const keys = [bullKey(prefix, queue, ''), companionPrefix(prefix, queue)]
  return {
    async count(
      text: string,
      { good, bad, probes = [] }: { good: number; bad: number; probes?: readonly ProbeEnd[] },
    ): Promise<FuseWord> {
      const ends = probes.flatMap(({ id, token, sign }) => [id, token, sign ?? ''])
      const args = [...keys, text, String(good), String(bad), ...ends]
      const [state, changes] = await scripted.jadwalFuseCount(...args)
      return { state, changes: changes.map(readChange) }
    },
    /** Whether a run that is in hand may be made; else it lies in the lot, or another worker has it. */
    async admit(
      text: string,
      { id, token }: { id: string; token: string },
    ): Promise<FuseWord & { admission: AskedAdmission }> {
      const [admission, state, changes] = await scripted.jadwalFuseAdmit(...keys, text, id, token)
      return { admission, state, changes: changes.map(readChange) }
    },
    /** Carries on what time brings. `waitMs`: in how long to look again at the latest. */
    async look(texts: readonly string[]): Promise<{
      fuses: { state: FuseState; waitMs: number }[]
      changes: FuseChange[]
    }> {
      const [words, changes] = await scripted.jadwalFuseLook(...keys, ...texts)
      return {
        fuses: words.map(([state, waitMs]) => ({ state, waitMs })),
        changes: changes.map(readChange),
      }
    },
  }
}

/** A job's fuse as the scripts take it. */
export function fuseText(job: { name: string; queue: string; fuse: Fuse }): string {
  const { name, queue, fuse } = job
  return JSON.stringify({
    job: name,
    queue,
    failureRate: fuse.failureRate,
    minAttempts: fuse.minAttempts,
    windowMs: fuse.windowMs,
    openMs: openTimesMs(fuse),
    steps: fuseSteps(fuse).map(({ quota, limit }) => [quota, limit]),
  })
}
