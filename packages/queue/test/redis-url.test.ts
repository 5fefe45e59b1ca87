import { describe, expect, test } from 'vitest'
import { redisUrlEnv } from '../src/index.ts'
import { redisOptions } from '../src/redis-url.ts'

describe('REDIS_URL', () => {
  test('unset, it is the Redis of this machine', () => {
    expect(redisUrlEnv.parse(undefined)).toBe('redis://127.0.0.1:6379')
  })

  test.each([
    ['redis://cache', { host: 'cache', port: 6379 }],
    [
      'redis://me:p%40ss@[::1]:7000/3',
      { host: '::1', port: 7000, username: 'me', password: 'p@ss', db: 3 },
    ],
    ['rediss://cache:6380', { host: 'cache', port: 6380, tls: { servername: 'cache' } }],
    [
      'redis+sentinel://:pass@s1:26000,s2/main?db=2',
      {
        sentinels: [
          { host: 's1', port: 26_000 },
          { host: 's2', port: 26_379 },
        ],
        name: 'main',
        password: 'pass',
        db: 2,
      },
    ],
  ])('%s', (url, options) => {
    expect(redisUrlEnv.parse(url)).toBe(url)
    expect(redisOptions(url)).toEqual(options)
  })

  test.each([
    ['http://cache', /must be redis:\/\/host:port, rediss:/],
    ['cache:6379', /must be redis:\/\/host:port, rediss:/],
    ['redis+cluster://a,b', /a Redis cluster is not supported/],
    ['redis+sentinel://s1,s2', /must be redis\+sentinel:\/\/host:port,host:port\/name/],
    ['redis://cache/jobs', /database "jobs" must be a number/],
  ])('%s is refused with what would be right', (url, problem) => {
    expect(redisUrlEnv.safeParse(url).error?.issues[0]?.message).toMatch(problem)
  })
})
