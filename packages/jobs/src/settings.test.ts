import { expect, test } from 'vitest'
import { z } from 'zod'
import { jobsEnv, readSettings } from './settings.ts'

test('nothing may be run unless it is named, and only by an absolute path', () => {
  expect(readSettings({}).execAllow).toEqual([])
  expect(readSettings({ JADWAL_EXEC_ALLOW: '' }).execAllow).toEqual([])
  expect(readSettings({ JADWAL_EXEC_ALLOW: '/bin/date, date,/bin/sh' }).execAllow).toEqual([
    '/bin/date',
    '/bin/sh',
  ])
})

test('a command gets nothing of the environment but PATH, HOME, LANG and TZ', () => {
  const env = { PATH: '/bin', HOME: '/root', TZ: 'UTC', JADWAL_SECRET_KEY: 's', REDIS_URL: 'r' }
  expect(readSettings(env).commandEnv).toEqual({ PATH: '/bin', HOME: '/root', TZ: 'UTC' })
})

test('the api needs both its address and a token', () => {
  const url = 'http://127.0.0.1:3000'
  expect(readSettings({ JADWAL_URL: url, JADWAL_TOKEN: 't' }).api).toEqual({ url, token: 't' })
  expect(readSettings({ JADWAL_URL: url }).api).toBeUndefined()
  expect(readSettings({ JADWAL_URL: 'nowhere', JADWAL_TOKEN: 't' }).api).toBeUndefined()
})

test('each bad variable is found by the schema that a worker starts with', () => {
  const problems = z
    .object(jobsEnv)
    .safeParse({ JADWAL_EXEC_ALLOW: 'date', SMTP_URL: 'http://mail', JADWAL_URL: 'nowhere' })
    .error?.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)
  expect(problems).toEqual([
    'JADWAL_EXEC_ALLOW must be absolute paths with commas between them, such as /usr/bin/rsync,/bin/sh',
    'JADWAL_URL must be an address such as http://127.0.0.1:3000',
    'SMTP_URL must be smtp://host:port or smtps://user:password@host',
  ])
})
