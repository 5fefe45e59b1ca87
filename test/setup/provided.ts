import type { ProvidedContext } from 'vitest'

/** What the global setup hands to the tests; read with `inject('redisUrl')` of vitest. */
declare module 'vitest' {
  export interface ProvidedContext {
    /** The run's Redis, shared by all test files: isolate with a `JADWAL_PREFIX` of your own. */
    redisUrl: string
    /** The run's Postgres, as superuser: isolate with `createTestDatabase(inject('postgresUrl'))`. */
    postgresUrl: string
  }
}

export type { ProvidedContext }
