import { expect, test } from 'vitest'
import { setupHistory } from './setup-history.ts'

const NO_UUID = '-'.repeat(36)
const UUID = '01a2b3c4-0000-7000-8000-000000000000'
const FORGED = [
  'x',
  '\\0',
  '-1',
  '9'.repeat(16),
  NO_UUID,
  `${UUID}\n`,
  `1|${NO_UUID}`,
  `1|${'0'.repeat(36)}`,
  `9999999999999999|${UUID}`,
  `1|9999999999999999|${UUID}`,
  `1|1|${NO_UUID}`,
].map((text) => Buffer.from(text).toString('base64url'))

const LISTS = [
  'runs',
  'schedules',
  'schedules/nightly/versions',
  'schedules/nightly/ticks',
  'calendars',
  'backfills',
  'redrives',
  'dead-letters',
  'dead-letters/groups',
  'leader/terms',
]

test('a cursor that nobody gave out is no error of the api, whatever list it is sent to', async () => {
  await using t = await setupHistory()
  for (const list of LISTS)
    for (const cursor of FORGED) {
      const { status } = await t.api.ask(`/api/v1/${list}?cursor=${cursor}`)
      expect([list, cursor, status < 500]).toEqual([list, cursor, true])
    }
  for (const cursor of FORGED) {
    const { status } = await t.api.ask('/api/v1/dead-letters/discard', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ all: true, reason: 'x', cursor }),
    })
    expect([cursor, status]).toEqual([cursor, 400])
  }
})

test('the latest instant and the largest id that a cursor can have are taken', async () => {
  await using t = await setupHistory()
  const id = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
  for (const list of ['backfills', 'redrives', 'dead-letters']) {
    const cursor = Buffer.from(`999999999999999|${id}`).toString('base64url')
    const { status, body } = await t.api.ask(`/api/v1/${list}?cursor=${cursor}`)
    expect([status, body]).toEqual([200, { items: [], nextCursor: null }])
  }
})
