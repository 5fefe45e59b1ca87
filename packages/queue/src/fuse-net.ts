import type { Redis } from 'ioredis'
import { type FuseChange, readChange } from './fuse-change.ts'
import { FUSE } from './fuse-lua.ts'
import { bullKey, companionPrefix } from './keys.ts'
import { RUNS_WHEN_FULL } from './when-full.ts'

/** Workers look after the fuses of their jobs each second. One that nobody looked after for so long is nobody's. */
const NOBODYS_AFTER_MS = 15_000
/** Who made a change tells of it at once. One that is older was left untold. */
const TOLD_WITHIN_MS = 5_000
const TOLD_AT_ONCE = 100

/*
 * Closes the fuses of jobs that have none any more, and lets out what lies in their lots.
 *   KEYS[1] prefix of the message keys  KEYS[2] prefix of the queue's companions
 *   ARGV[1] queue  ARGV[2] after how many ms without a look a fuse is nobody's  ARGV[3…] jobs that have a fuse here
 *   Returns how many runs are left in those lots, changes that were not told in time, and the changes made.
 */
const NET = `${RUNS_WHEN_FULL}${FUSE}
local known, left, untold = {}, 0, {}
for i = 3, #ARGV do known[ARGV[i]] = true end
local time = redis.call('TIME')
for _, text in ipairs(redis.call('LRANGE', KEYS[2] .. 'fuse-news', 0, ${TOLD_AT_ONCE - 1})) do
  if math.abs(time[1] * 1000 - cjson.decode(text).at) > ${TOLD_WITHIN_MS} then untold[#untold + 1] = text end
end
for _, job in ipairs(redis.call('SMEMBERS', KEYS[2] .. 'fuses')) do
  if not known[job] then
    local fuse = readFuse(KEYS[1], KEYS[2], cjson.encode({ job = job, queue = ARGV[1] }))
    local lookedAt = tonumber(redis.call('HGET', fuse.key, 'lookedAt') or 0)
    if fuse.state ~= 'closed' and math.abs(fuse.now - lookedAt) > tonumber(ARGV[2]) then closeFuse(fuse) end
    if fuse.state == 'closed' then
      lookAfter(fuse)
      left = left + parked(fuse)
    end
  end
end
return { left, untold, changes }
`

const COMMAND = 'jadwalFuseNet'
type Scripted = Redis & { [COMMAND](...args: string[]): Promise<[number, string[], string[]]> }

export interface FuseNetDeps {
  redis: Redis
  prefix: string
  queue: string
  /** The names of the jobs on this queue whose fuses this process looks after itself. */
  jobs: readonly string[]
}

/**
 * The net under the fuses of a queue: a job may have lost its fuse, and its workers, while runs lay in
 * its lot, and a worker may die before it raises the event of a change. Returns how many runs such lots
 * still have, what was `made` by this call, and what is still to be told, by whomever it was made.
 */
export async function mendFuses(
  { redis, prefix, queue, jobs }: FuseNetDeps,
  nobodysAfterMs = NOBODYS_AFTER_MS,
): Promise<{ left: number; untold: FuseChange[]; made: FuseChange[] }> {
  if (!(COMMAND in redis)) redis.defineCommand(COMMAND, { numberOfKeys: 2, lua: NET })
  const keys = [bullKey(prefix, queue, ''), companionPrefix(prefix, queue)]
  const args = [queue, String(nobodysAfterMs), ...jobs]
  const [left, untold, made] = await (redis as Scripted)[COMMAND](...keys, ...args)
  return { left, untold: untold.map(readChange), made: made.map(readChange) }
}
