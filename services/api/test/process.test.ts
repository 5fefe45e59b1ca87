import { createTestDatabase, spawnService } from '@jadwal/testkit'
import { describe, expect, inject, test } from 'vitest'

const TOKEN = { JADWAL_ADMIN_TOKEN: 'process-test-token' }

describe('the process of the api', { timeout: 60_000 }, () => {
  test('without a token it does not start, exit 78, and says what to set', async () => {
    await using api = spawnService('api', {})
    expect(await api.exitCode()).toBe(78)
    expect(api.logs).toEqual([
      'jadwal api: wrong environment',
      '  JADWAL_ADMIN_TOKEN must be set: it opens the api. Or set JADWAL_AUTH=off together with JADWAL_HOST=127.0.0.1',
    ])
  })

  test('with one token for admin and workers it does not start, exit 78', async () => {
    const token = TOKEN.JADWAL_ADMIN_TOKEN
    await using api = spawnService('api', { ...TOKEN, JADWAL_VIEWER_TOKEN: token })
    expect(await api.exitCode()).toBe(78)
    expect(api.logs.join()).toContain('JADWAL_VIEWER_TOKEN must differ from JADWAL_ADMIN_TOKEN')
    expect(api.logs.join()).not.toContain(token)
  })

  test.each([
    ['Redis', 'REDIS_URL', 'redis://:secret@127.0.0.1:1'],
    ['Postgres', 'DATABASE_URL', 'postgres://me:secret@127.0.0.1:1/jadwal'],
  ])('without %s it does not start, exit 69, and names %s', async (what, variable, url) => {
    await using api = spawnService('api', {
      REDIS_URL: inject('redisUrl'),
      DATABASE_URL: inject('postgresUrl'),
      ...TOKEN,
      [variable]: url,
    })
    expect(await api.exitCode()).toBe(69)
    const said = api.logs.filter((line) => !line.startsWith('{'))
    expect(said[0]).toMatch(
      new RegExp(`^jadwal api: ${what} cannot be used at .*\\(${variable}\\): `),
    )
    expect(said[1]).toMatch(/^Ways out: /)
    expect(api.logs.join()).not.toMatch(/secret/)
  })

  test('it says on which port it is ready, and a SIGTERM ends it, exit 0', async () => {
    await using database = await createTestDatabase(inject('postgresUrl'))
    await using api = spawnService('api', {
      REDIS_URL: inject('redisUrl'),
      DATABASE_URL: database.url,
      ...TOKEN,
    })
    const port = await api.ready
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
    expect(await api.stop()).toBe(0)
  })
})
