import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { commonEnv, ConfigError, integerEnv, parseEnv, portEnv } from './index.ts'

const Env = z.object({ ...commonEnv, JADWAL_PORT: portEnv(3_000) })

function problemsOf(env: NodeJS.ProcessEnv, schema: z.ZodType = Env): string {
  try {
    parseEnv(schema, env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

describe('parseEnv', () => {
  test('an empty environment has every default', () => {
    expect(parseEnv(Env, {})).toEqual({
      JADWAL_PREFIX: 'jadwal',
      JADWAL_LOG_LEVEL: 'info',
      JADWAL_HOST: '0.0.0.0',
      JADWAL_GRACE_MS: 30_000,
      JADWAL_PORT: 3_000,
    })
  })

  test('an empty variable counts as not set', () => {
    expect(parseEnv(Env, { JADWAL_PORT: '', JADWAL_PREFIX: '' }).JADWAL_PORT).toBe(3_000)
  })

  test('every bad variable is named with its value and what would be right', () => {
    const message = problemsOf({
      JADWAL_PORT: '70000',
      JADWAL_GRACE_MS: 'soon',
      JADWAL_PREFIX: 'a:b',
      JADWAL_LOG_LEVEL: 'loud',
    })
    expect(message.split('\n').toSorted()).toEqual([
      'JADWAL_GRACE_MS must be a whole number from 0 to 86400000, but is "soon"',
      'JADWAL_LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, but is "loud"',
      'JADWAL_PORT must be a whole number from 0 to 65535, but is "70000"',
      'JADWAL_PREFIX must match [A-Za-z0-9_.-]{1,64}, but is "a:b"',
    ])
  })

  test('a variable that is needed and absent must be set', () => {
    expect(problemsOf({}, z.object({ SMTP_URL: z.url() }))).toBe('SMTP_URL must be set')
  })

  test('tokens and passwords are not shown', () => {
    const message = problemsOf(
      {
        JADWAL_METRICS_TOKEN: 'short',
        SMTP_URL: 'http://me:hunter2@mail/x',
      },
      z.object({ ...commonEnv, SMTP_URL: z.url({ protocol: /^smtp$/ }) }),
    )
    expect(message).toContain(
      'JADWAL_METRICS_TOKEN must have at least 8 characters, but is (hidden)',
    )
    expect(message).toContain('"http://me:***@mail/x"')
    expect(message).not.toMatch(/short|hunter2/)
  })

  test.each([
    ['me:hunter2@db/jadwal', 'me:***@db/jadwal'],
    ['//me:hunter2@db/jadwal', '//me:***@db/jadwal'],
    ['http//me:hunter2@db/jadwal', 'http//me:***@db/jadwal'],
    ['http://db/x?user=me&password=hunter2&ssl=no', 'http://db/x?user=me&password=***&ssl=no'],
    ['http://me:hunter2@db/x', 'http://me:***@db/x'],
    ['http://db:1/x', 'http://db:1/x'],
  ])('the address %s is shown as %s', (value, shown) => {
    const schema = z.object({ SMTP_URL: z.url({ protocol: /^smtp$/ }) })
    expect(problemsOf({ SMTP_URL: value }, schema)).toContain(`but is "${shown}"`)
  })

  test.each(['-1', '1.5', '1e3', ' 7', '0x10', '99999999999999999'])(
    'the whole number %j is refused',
    (text) => {
      expect(() => parseEnv(z.object({ N: integerEnv(0, 100) }), { N: text })).toThrow(ConfigError)
    },
  )
})
