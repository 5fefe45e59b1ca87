import { expect, test } from 'vitest'
import { readSettings, SettingsError } from './settings.ts'

test('nothing may be run unless it is named', () => {
  expect(readSettings({}).execAllow).toEqual([])
  expect(readSettings({ JADWAL_EXEC_ALLOW: '' }).execAllow).toEqual([])
  expect(readSettings({ JADWAL_EXEC_ALLOW: '/bin/date, /bin/sh' }).execAllow).toEqual([
    '/bin/date',
    '/bin/sh',
  ])
})

test('a command gets nothing of the environment but PATH, HOME, LANG and TZ', () => {
  const env = { PATH: '/bin', HOME: '/root', TZ: 'UTC', JADWAL_SECRET_KEY: 's', REDIS_URL: 'r' }
  expect(readSettings(env).commandEnv).toEqual({ PATH: '/bin', HOME: '/root', TZ: 'UTC' })
})

test('every bad variable is named in one error, which shows no password', () => {
  const env = {
    JADWAL_EXEC_ALLOW: 'date',
    SMTP_URL: 'http://user:hunter2@mail',
    JADWAL_URL: 'nowhere',
  }
  const problems = [
    'JADWAL_EXEC_ALLOW must be absolute paths with commas between them, but has "date"',
    'SMTP_URL must be smtp://host:port or smtps://host:port',
    'JADWAL_URL must be an address such as http://127.0.0.1:3000, but is "nowhere"',
  ]
  expect(() => readSettings(env)).toThrow(new SettingsError(problems.join('\n')))
})
