import { expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { serviceSpecs } from './service-specs.ts'

const ADDRESSES = {
  redisUrl: 'redis://127.0.0.1:1',
  databaseUrl: 'postgres://postgres:secret@127.0.0.1:1/jadwal',
  smtpUrl: 'smtp://127.0.0.1:1',
  apiPort: 1,
  adminToken: 'of-the-admin',
  viewerToken: 'of-the-viewer',
}

test('workers are given no way to Postgres', () => {
  const specs = serviceSpecs(
    readConfig({ DATABASE_URL: ADDRESSES.databaseUrl }, '/project'),
    ADDRESSES,
  ).flat()
  const having = specs.filter(({ env }) => JSON.stringify(env).includes('secret'))
  const names = having.map(({ name }) => name)
  expect(names).toEqual(['api', 'recorder', 'scheduler.1', 'scheduler.2'])
})
