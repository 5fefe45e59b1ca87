import { findCalendar, findSchedule, openDatabase } from '@jadwal/db'
import { REDACTED } from '@jadwal/domain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changesIn, entriesOf, expectOneHistory } from './setup-audit.ts'
import { EMAIL, type SchedulesApi, setupSchedules } from './setup-schedules.ts'

let t: SchedulesApi
let db: ReturnType<typeof openDatabase>
beforeAll(async () => {
  t = await setupSchedules()
  db = openDatabase({ url: t.databaseUrl, schema: 'jadwal', max: 2 })
})
afterAll(async () => {
  await db.destroy()
  await t[Symbol.asyncDispose]()
})

interface Kind {
  /** The path of what is changed, which is also the subject of its entries. */
  path: string
  /** A body that differs for each number. */
  body: (at: number) => object
  /** What `before` and `after` say of it as it is now. */
  now: () => Promise<unknown>
}

const shown = async (path: string): Promise<object | null> => {
  const { status, body } = await t.send('GET', `/${path}`)
  return status === 404 ? null : body
}

/** Names are those of one test. */
function kinds(name: string): [string, Kind][] {
  const rule = `alerts/rules/${name}`
  const channel = `alerts/channels/${name}`
  const silence = `alerts/silences/${name}`
  return [
    [
      'schedule',
      {
        path: `schedules/${name}`,
        body: (at) => ({ ...EMAIL, cron: `${at} 6 * * *` }),
        now: async () => (await findSchedule(db, name))?.spec ?? null,
      },
    ],
    [
      'calendar',
      {
        path: `calendars/${name}`,
        body: (at) => ({ dates: [`2027-01-${String(at + 1).padStart(2, '0')}`] }),
        now: async () => (await findCalendar(db, name))?.spec ?? null,
      },
    ],
    [
      'alert rule',
      {
        path: rule,
        body: (at) => ({ kind: 'no-leader', for: `${at + 1}s` }),
        now: () => shown(rule),
      },
    ],
    [
      'alert channel',
      {
        path: channel,
        // What differs is not to be seen, so it is told by the revision.
        body: (at) => ({ kind: 'slack', url: `https://example.com/a-secret-path-${at}` }),
        now: async () => {
          const now = await shown(channel)
          return now && { ...now, url: REDACTED }
        },
      },
    ],
    [
      'alert silence',
      {
        path: silence,
        body: (at) => ({ from: '2026-01-01T00:00:00Z', until: `2026-12-${10 + at}T00:00:00Z` }),
        now: () => shown(silence),
      },
    ],
  ]
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

test.each(kinds('one'))(
  'who puts one %s at once with others is told of with what they found',
  async (_word, { path, body, now }) => {
    const puts = await Promise.all(numbers(10).map((at) => t.send('PUT', `/${path}`, body(at % 8))))
    expect(puts.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(puts.filter(({ status }) => status === 200)).toHaveLength(9)
    const entries = await entriesOf(t, { subject: path, count: 10 })
    expectOneHistory(entries, { from: null, to: await now() })
    expect(changesIn(entries).length).toBeGreaterThanOrEqual(8)

    // The same again changes nothing, and says so.
    for (const _ of numbers(2)) expect((await t.send('PUT', `/${path}`, body(0))).status).toBe(200)
    const [newest] = await entriesOf(t, { subject: path, count: 12 })
    expect(newest).toMatchObject({ status: 200, before: newest?.after, after: await now() })
    expect(JSON.stringify(await entriesOf(t, { subject: path, count: 12 }))).not.toContain(
      'a-secret-path',
    )
  },
)

test.each(kinds('two'))(
  'of many who delete one %s at once one has done it',
  async (_word, { path, body, now }) => {
    expect((await t.send('PUT', `/${path}`, body(1))).status).toBe(201)
    const was = await now()
    const deletes = await Promise.all(numbers(5).map(() => t.send('DELETE', `/${path}`)))
    expect(deletes.filter(({ status }) => status === 204)).toHaveLength(1)
    const entries = (await entriesOf(t, { subject: path, count: 6 })).filter(({ action }) =>
      action.endsWith('.delete'),
    )
    expect(entries.filter(({ status }) => status === 204)).toMatchObject([
      { before: was, after: null },
    ])
    const others = entries.filter(({ status }) => status === 404)
    expect(others).toHaveLength(4)
    expect(others.map(({ before, after }) => [before, after])).toEqual(
      others.map(() => [null, null]),
    )
  },
)

test.each(kinds('three'))(
  'who puts one %s against others who delete it is told of with what they found',
  async (_word, { path, body, now }) => {
    const answers = await Promise.all(
      numbers(16).map((at) =>
        at % 2 === 0 ? t.send('PUT', `/${path}`, body(at)) : t.send('DELETE', `/${path}`),
      ),
    )
    expect(answers.filter(({ status }) => ![200, 201, 204, 404].includes(status))).toEqual([])
    const entries = await entriesOf(t, { subject: path, count: 16 })
    expectOneHistory(entries, { from: null, to: await now() })
    const done = entries.filter(({ status }) => status < 300)
    expect(changesIn(entries)).toHaveLength(done.length)
  },
)

test('rollbacks and edits of one schedule are one history', async () => {
  const path = 'schedules/rolled'
  const put = (at: number) => t.send('PUT', `/${path}`, { ...EMAIL, cron: `${at} 6 * * *` })
  await put(30)
  await Promise.all(
    numbers(9).map((at) =>
      at % 3 === 0 ? t.send('POST', `/${path}/rollback`, { version: 1 }) : put(at),
    ),
  )
  const entries = await entriesOf(t, { subject: path, count: 10 })
  expect(entries.map(({ status }) => status)).not.toContain(404)
  const to = (await findSchedule(db, 'rolled'))?.spec
  expectOneHistory(entries, { from: null, to })
})

test.each([
  ['one schedule', '/schedules/rests', ['schedules.pause', 'schedules.resume']],
  ['everything', '', ['pause', 'resume']],
])('pauses and resumes of %s at once are one history', async (_what, of, actions) => {
  await t.send('PUT', '/schedules/rests', EMAIL)
  const acts = numbers(12).map((at) =>
    at % 3 === 2
      ? t.send('POST', `${of}/resume`)
      : t.send('POST', `${of}/pause`, { reason: `reason ${at}` }),
  )
  const answers = await Promise.all(acts)
  expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200))
  const now = (await t.send('GET', of === '' ? '/pause' : of)).body.pause
  const entries = await entriesOf(t, { actions: [...actions], count: 12 })
  expectOneHistory(entries, { from: { pause: null }, to: { pause: now ?? null } })
})

test('pauses of one schedule are one history, also where it is deleted while it rests', async () => {
  const path = 'schedules/leaves'
  const pause = (reason: string) => t.send('POST', `/${path}/pause`, { reason })
  await t.send('POST', '/resume')
  await t.send('PUT', `/${path}`, EMAIL)
  await pause('maintenance')
  const rests = await shown(path)
  await t.send('DELETE', `/${path}`)
  const [deleted] = await entriesOf(t, { subject: path, count: 3 })
  expect(deleted).toMatchObject({ before: { ...EMAIL, pause: pauseIn(rests) }, after: null })
  expect(pauseIn(rests)).toMatchObject({ reason: 'maintenance' })

  for (const _ of numbers(4)) {
    await t.send('PUT', `/${path}`, EMAIL)
    await Promise.all([pause('a'), pause('b'), t.send('DELETE', `/${path}`), pause('c')])
  }
  const entries = await entriesOf(t, { subject: path, count: 23 })
  const ofPauses = entries
    .filter(({ action }) => action !== 'schedules.put')
    .map((entry) =>
      Object.assign(entry, { before: pauseIn(entry.before), after: pauseIn(entry.after) }),
    )
  expectOneHistory(ofPauses, { from: null, to: pauseIn(await shown(path)) })
})

function pauseIn(state: unknown): unknown {
  return (state as { pause?: unknown } | null)?.pause ?? null
}
