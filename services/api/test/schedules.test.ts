import { applySchedules, type Db } from '@jadwal/db'
import { expect, test } from 'vitest'
import { setupHistory } from './setup-history.ts'

const names = (answer: { body: { items: { name: string }[] } }) =>
  answer.body.items.map(({ name }) => name)

/** Schedules by name; text is the interval of one. */
async function apply(db: Db, schedules: Record<string, object | string>): Promise<void> {
  const inputs = Object.entries(schedules).map(([name, input]) => ({
    name,
    input: { job: 'email.send', ...(typeof input === 'string' ? { every: input } : input) },
  }))
  await applySchedules(db, { schedules: inputs, prune: false, source: 'file', author: 'test' })
}

test('schedules with their next tick', async () => {
  await using t = await setupHistory()
  const nightly = { cron: '0 3 * * *', timezone: 'Asia/Jakarta' }
  await apply(t.db, { nightly, often: { every: '90s', paused: true } })
  const { body } = await t.api.ask('/api/v1/schedules')
  expect(body.items).toMatchObject([
    { name: 'nightly', cron: '0 3 * * *', nextTick: expect.stringMatching(/T20:00:00\.000Z$/) },
    { name: 'often', every: '90s', nextTick: null },
  ])
})

test('schedules come page by page, by name', async () => {
  await using t = await setupHistory()
  await apply(t.db, { a: '90s', b: '90s', c: '90s' })
  const first = await t.api.ask('/api/v1/schedules?limit=2')
  expect(names(first)).toEqual(['a', 'b'])
  const second = await t.api.ask(`/api/v1/schedules?limit=2&cursor=${first.body.nextCursor}`)
  expect(names(second)).toEqual(['c'])
  expect(second.body.nextCursor).toBeNull()
  for (const query of ['limit=0', 'limit=201', 'cursor=%21', 'colour=red'])
    expect((await t.api.ask(`/api/v1/schedules?${query}`)).status).toBe(400)
})

test('the page shows the schedules that fire next, and how many more there are', async () => {
  await using t = await setupHistory()
  const nine = Array.from({ length: 55 }, (_, at) => [`a-${at}`, '9d'] as const)
  await apply(t.db, { ...Object.fromEntries(nine), 'z-soon': '1m' })
  const page = async () => (await t.api.ask('/', { headers: { accept: 'text/html' } })).text
  const shown = await page()
  expect(shown).toContain('<td>z-soon</td>')
  expect(shown).toContain('6 more</a>')
  expect(shown.match(/<td>a-\d+<\/td>/g)).toHaveLength(49)
  await apply(t.db, { 'z-sooner': '1s' })
  expect(await page()).toMatch(/z-sooner[^]*z-soon<[^]*7 more</)
})
