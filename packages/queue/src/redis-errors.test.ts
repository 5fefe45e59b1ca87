import { expect, test } from 'vitest'
import { isRedisTrouble } from './redis-trouble.ts'
import { isRedisError, redisErrorCode } from './redis-errors.ts'

const SHA = '0a9f75e991483d02789696e4c90d26c10395863e'

test.each([
  ['a command', "OOM command not allowed when used memory > 'maxmemory'.", 'OOM'],
  [
    'a script of Redis 7',
    `OOM command not allowed when used memory > 'maxmemory'. script: ${SHA}, on @user_script:1.`,
    'OOM',
  ],
  [
    'a script of Redis 6.2',
    `ERR Error running script (call to f_${SHA}): @user_script:41: @user_script: 41: -OOM command not allowed when used memory > 'maxmemory'. `,
    'OOM',
  ],
  [
    'a script of Redis 7 on a replica',
    `READONLY You can't write against a read only replica. script: ${SHA}, on @user_script:1.`,
    'READONLY',
  ],
  [
    'a script of Redis 6.2 on a replica',
    `ERR Error running script (call to f_${SHA}): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica. `,
    'READONLY',
  ],
  [
    'a script of Redis 6.2 without replicas',
    `ERR Error running script (call to f_${SHA}): @user_script:1: @user_script: 1: -NOREPLICAS Not enough good replicas to write. `,
    'NOREPLICAS',
  ],
  [
    'a command of a script with a mistake',
    `ERR Error running script (call to f_${SHA}): @user_script:1: WRONGTYPE Operation against a key holding the wrong kind of value `,
    'WRONGTYPE',
  ],
  [
    'a mistake of the script itself',
    `ERR Error running script (call to f_${SHA}): @user_script:1: @user_script: 1: Wrong number of args calling Redis command From Lua script `,
    'ERR',
  ],
  ['a start', 'LOADING Redis is loading the dataset in memory', 'LOADING'],
  ['a transaction', 'EXECABORT Transaction discarded because of previous errors.', 'EXECABORT'],
  ['no answer', 'connect ECONNREFUSED 127.0.0.1:6379', undefined],
  ['an error of ours', 'Connection is closed.', undefined],
])('the code is found in the error of %s', (_case, message, code) => {
  expect(redisErrorCode(new Error(message))).toBe(code)
})

function wrapped(rest: string): Error {
  return new Error(
    `ERR Error running script (call to f_${SHA}): @user_script:1: @user_script: 1: ${rest}`,
  )
}

test('what a script could not write is told from a mistake in it', () => {
  expect(isRedisTrouble(wrapped('-MISCONF Errors writing to the AOF file: No space left'))).toBe(
    true,
  )
  expect(isRedisTrouble(wrapped('Wrong number of args'))).toBe(false)
  expect(isRedisError(new Error('ERR unknown command'), new Set(['OOM']))).toBe(false)
})
