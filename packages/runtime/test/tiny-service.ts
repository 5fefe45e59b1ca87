import { z } from 'zod'
import {
  commonEnv,
  integerEnv,
  Lifecycle,
  parseEnv,
  runService,
  sleep,
  UnavailableError,
} from '../src/index.ts'

/** A service that does what its environment says, for the tests of `runService`. */
const Env = z.object({
  ...commonEnv,
  CLOSE_MS: integerEnv(0, 600_000).default(0),
  START: z.enum(['well', 'unavailable', 'broken', 'slow']).default('well'),
  CRASH_AFTER_MS: integerEnv(0, 60_000).optional(),
})

await runService({
  name: 'tiny',
  // oxlint-disable-next-line node/no-process-env -- this file is a main.ts
  env: process.env,
  readConfig: (env) => {
    const parsed = parseEnv(Env, env)
    return { ...parsed, logLevel: parsed.JADWAL_LOG_LEVEL, graceMs: parsed.JADWAL_GRACE_MS }
  },
  start: async (config, { log, stop, hurry, listening, onCrash }) => {
    if (config.START === 'slow') await sleep(60_000, stop)
    if (config.START === 'broken') throw new Error('cannot be')
    if (config.START === 'unavailable') {
      const cause = new Error('connect ECONNREFUSED')
      throw new UnavailableError({
        what: 'Redis',
        variable: 'REDIS_URL',
        address: 'redis://127.0.0.1:6379',
        cause,
      })
    }
    const lifecycle = new Lifecycle(log)
    const alive = setInterval(() => undefined, 1_000)
    lifecycle.onClose('work', async () => {
      await sleep(config.CLOSE_MS, hurry)
      clearInterval(alive)
      log.info('drained')
    })
    onCrash(async () => log.info('crash handled'))
    if (config.CRASH_AFTER_MS !== undefined) {
      setTimeout(() => void Promise.reject(new Error('oops')), config.CRASH_AFTER_MS)
    }
    listening(4_711)
    return lifecycle
  },
})
