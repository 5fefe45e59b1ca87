import { expect, test } from 'vitest'
import { UnavailableError } from './unavailable-error.ts'

test('the message names the variable, the address without its password, the cause and ways out', () => {
  const { message } = new UnavailableError({
    what: 'Redis',
    variable: 'REDIS_URL',
    address: 'redis://me:p@ss@cache:6379',
    cause: new AggregateError([
      new Error('connect ECONNREFUSED ::1'),
      new Error('connect ECONNREFUSED 127.0.0.1'),
    ]),
  })
  expect(message).toBe(
    'Redis cannot be used at redis://me:***@cache:6379 (REDIS_URL): connect ECONNREFUSED ::1; connect ECONNREFUSED 127.0.0.1\n' +
      'Ways out: start it, or point REDIS_URL to one that runs; `npm start` and `docker compose up` bring their own.',
  )
})
