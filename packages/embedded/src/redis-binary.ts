import { findProgram, type Program, type ProgramSearch } from './debian-program.ts'

/** What the program is called. */
export const REDIS_NAMES = ['redis-server', 'valkey-server']
const SOURCE = { names: REDIS_NAMES, folder: 'redis', packages: ['redis-server', 'redis-tools'] }

/**
 * Redis or Valkey from the path; else unpacked from the distribution's package.
 * Throws one message with the ways out when neither works.
 */
export async function findRedisBinary(search: ProgramSearch): Promise<Program> {
  try {
    return await findProgram(SOURCE, search)
  } catch (error) {
    throw new Error(noRedis(error), { cause: error })
  }
}

function noRedis(error: unknown): string {
  const why =
    error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : String(error)
  return [
    `there is no redis-server or valkey-server on the PATH, and unpacking one failed: ${why}`,
    'Ways out:',
    '  - install Redis ≥ 6.2 (apt install redis-server, brew install redis, …)',
    '  - set REDIS_URL to a Redis of yours, for example redis://127.0.0.1:6379',
    '  - docker compose up',
  ].join('\n')
}
