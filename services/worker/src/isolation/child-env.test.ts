import { expect, test } from 'vitest'
import { childEnv } from './child-env.ts'

test('children get the environment of their worker without what is its own', () => {
  const own = {
    JADWAL_SECRET_BANK: 'hidden',
    JADWAL_SECRET_BANK_FILE: '/run/bank',
    JADWAL_ADMIN_TOKEN: 'hidden',
    JADWAL_ADMIN_TOKEN_FILE: '/run/admin',
    JADWAL_METRICS_TOKEN: 'hidden',
    JADWAL_VIEWER_TOKEN: 'hidden',
    JADWAL_TOKEN: 'hidden',
    JADWAL_TOKEN_FILE: '/run/viewer',
    JADWAL_ENCRYPTION_KEYS: 'hidden',
    JADWAL_ENCRYPTION_KEYS_FILE: '/run/keys',
  }
  const theirs = { PATH: '/bin', REDIS_URL: 'redis://r', JADWAL_URL: 'http://a', BANK_URL: 'b' }
  expect(childEnv({ ...own, ...theirs })).toEqual(theirs)
})
