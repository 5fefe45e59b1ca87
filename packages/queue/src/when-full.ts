import type { Redis } from 'ioredis'

/**
 * To stand first in a script that makes room in the end, such as one that ends a run. A Redis at its
 * maxmemory refuses a script at its first command that may need memory, unless the script has written
 * before: what it has begun it may end. Deleting a key that does not exist counts, and does nothing.
 * (`#!lua flags=allow-oom` says the same, to a Redis from 7.0 on.)
 */
export const RUNS_WHEN_FULL = `redis.call('DEL', KEYS[1] .. ':none')
`

/** BullMQ's scripts that work runs off and do not begin by removing something: fetch, renew, rescue. */
const WORKING_OFF = /^(moveToActive|extendLocks|moveStalledJobsToWait):/
const WORKING_OFF_COUNT = 3

/**
 * Lets BullMQ work runs off on this connection when Redis is full: nothing else would make room, and
 * runs in hand would lose their locks. To be called when BullMQ has defined its scripts there; again
 * does nothing. Throws when BullMQ's scripts are not those that are known here.
 */
export function workOffWhenFull(redis: Redis): void {
  const { scriptsSet } = redis as unknown as { scriptsSet: Record<string, Definition> }
  const found = Object.entries(scriptsSet).filter(([name]) => WORKING_OFF.test(name))
  if (found.length !== WORKING_OFF_COUNT)
    throw new Error('BullMQ defines other scripts than are known here')
  for (const [name, { lua, numberOfKeys }] of found)
    if (!lua.startsWith(RUNS_WHEN_FULL))
      redis.defineCommand(name, { numberOfKeys, lua: `${RUNS_WHEN_FULL}${lua}` })
}

interface Definition {
  lua: string
  numberOfKeys: number
}
