import { eventually, makeTempFolder, removeTempFolder } from '@jadwal/testkit'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { setupSystem, type TestSystem } from './jadwal.ts'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/
const NOBODY = '019a2b3c-0000-7000-8000-000000000001'

// Each call is a process of its own: on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let system: TestSystem
beforeAll(async () => {
  system = await setupSystem(['worker', 'recorder', 'scheduler'])
})
afterAll(() => system[Symbol.asyncDispose]())

function echo(text: string): string {
  return JSON.stringify({ command: '/bin/echo', args: [text] })
}

async function enqueue(...more: string[]): Promise<string> {
  const { output } = await system.good(['enqueue', 'shell.exec', ...more])
  return output.trim()
}

test('jobs are listed, and one of them shown with its schema', async () => {
  const list = await system.good(['jobs'])
  expect(list.output.split('\n')[0]).toMatch(/^JOB +QUEUE +ATTEMPTS +TIMEOUT/)
  expect(list.output).toMatch(/^shell\.exec +\S+/m)
  const asJson = await system.good(['jobs', '--json'])
  expect(asJson.json).toMatchObject({
    items: expect.arrayContaining([expect.objectContaining({ name: 'shell.exec' })]),
    nextCursor: null,
  })
  const one = await system.good(['jobs', 'shell.exec'])
  expect(one.output).toContain('Payload (JSON Schema)')
  expect(one.output).toContain('"command"')
  const none = await system.jadwal(['jobs', 'shell.exce'])
  expect(none.exitCode).toBe(1)
  expect(none.errors).toMatch(/no job "shell\.exce"\. Known jobs: .*shell\.exec/)
})

test('a run is enqueued, followed to its end, and shown', async () => {
  const followed = await system.good(['enqueue', 'shell.exec', '--payload', echo('hi'), '--wait'])
  expect(followed.output).toMatch(/ succeeded after /)
  expect(followed.output).toContain('hi')
  expect(followed.errors).toMatch(/is enqueued/)
  const [id = ''] = UUID.exec(followed.output) ?? []

  const shown = await system.good(['runs', 'show', id])
  expect(shown.output).toContain('succeeded')
  expect(shown.output).toMatch(/enqueued +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+07:00 \(.* ago\)/)
  expect(shown.output).toContain('Attempt 1')
  const utc = await system.good(['runs', 'show', id, '--utc'])
  expect(utc.output).toMatch(/enqueued +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/)
  const asJson = await system.good(['runs', 'show', id, '--json'])
  expect(asJson.json).toMatchObject({ id, job: 'shell.exec', state: 'succeeded' })
})

test('a run that does not succeed gives 1, and its error in words', async () => {
  const payload = JSON.stringify({ command: '/bin/false' })
  const failed = await system.jadwal(
    ['enqueue', 'shell.exec', '--payload', '-', '--attempts', '1', '--wait'],
    { input: payload },
  )
  expect(failed.exitCode).toBe(1)
  expect(failed.output).toMatch(/ dead/)
  expect(failed.output).toMatch(/failed|permanent/)
  const [id = ''] = UUID.exec(failed.output) ?? []
  const asJson = await system.jadwal(['runs', 'wait', id, '--json'])
  expect(asJson.exitCode).toBe(1)
  expect(asJson.json).toMatchObject({ id, state: 'dead' })
})

test('a run that is delayed is listed, found by its key, cancelled, and cannot be cancelled twice', async () => {
  const more = ['--payload', echo('later'), '--delay', '1h', '--key', 'once', '--priority', '5']
  const id = await enqueue(...more)
  const again = await system.good(['enqueue', 'shell.exec', ...more, '--json'])
  expect(again.json).toMatchObject({ id, existing: true })
  const list = await eventually(async () => {
    const told = await system.good(['runs', 'list', '--job', 'shell.exec', '--state', 'queued'])
    expect(told.output).toContain(id)
    return told
  })
  expect(list.output.split('\n')[0]).toMatch(/^ID +STATE +JOB/)
  const waited = await system.jadwal(['runs', 'wait', id, '--timeout', '100ms'])
  expect(waited.exitCode).toBe(1)
  expect(waited.errors).toContain(`"jadwal runs wait ${id}" waits again`)
  const retried = await system.jadwal(['runs', 'retry', id])
  expect(retried.exitCode).toBe(1)
  expect(retried.errors).toContain('The run waits for no retry (409)')
  const cancelled = await system.good(['runs', 'cancel', id])
  expect(cancelled.output).toBe(`${id} is cancelled\n`)
  const twice = await system.jadwal(['runs', 'cancel', id])
  expect(twice.exitCode).toBe(1)
  expect(twice.errors).toContain('The run has ended (409)')
  expect(twice.errors).toMatch(/ request \S+/)
})

test('pages: a limit, a cursor, and all of them one a line', async () => {
  const lines = Array.from({ length: 3 }, (_, at) => `${echo(`page ${at}`)}\n`).join('')
  await system.good(['enqueue', 'shell.exec', '--batch', '-', '--delay', '2h'], { input: lines })
  const query = ['runs', 'list', '--state', 'queued', '--json']
  const first = await eventually(async () => {
    const told = await system.good([...query, '--limit', '2'])
    const page = told.json as { items: { id: string }[]; nextCursor: string | null }
    expect(page.items).toHaveLength(2)
    expect(page.nextCursor).not.toBeNull()
    return page
  })
  const second = await system.good([...query, '--limit', '1', '--cursor', first.nextCursor ?? ''])
  const ids = first.items.map(({ id }) => id)
  expect((second.json as typeof first).items.map(({ id }) => id)).not.toContain(ids[1])
  const all = await system.good([...query, '--all'])
  expect(all.lines.length).toBeGreaterThanOrEqual(3)
  const people = await system.good(['runs', 'list', '--state', 'queued', '--limit', '1'])
  expect(people.errors).toContain('There are more: --limit, --all, or --cursor ')
  const none = await system.good(['runs', 'list', '--job', 'shell.exec', '--state', 'skipped'])
  expect(none).toMatchObject({ output: '', errors: 'No such runs.\n' })
})

test('a batch names the line that is wrong, and enqueues nothing of it', async () => {
  const folder = makeTempFolder('batch')
  try {
    const file = join(folder, 'runs.ndjson')
    const good = JSON.stringify({ job: 'shell.exec', payload: JSON.parse(echo('x')) as unknown })
    writeFileSync(file, `${good}\n\n${JSON.stringify({ job: 'shell.exec', payload: {} })}\n`)
    const refused = await system.jadwal(['enqueue', '--batch', file])
    expect(refused.exitCode).toBe(1)
    expect(refused.errors).toContain('nothing was enqueued')
    expect(refused.errors).toMatch(/line 3, payload\.command: /)
    writeFileSync(file, `${good}\nnot json\n`)
    const unread = await system.jadwal(['enqueue', '--batch', file])
    expect(unread).toMatchObject({ exitCode: 1, output: '' })
    expect(unread.errors).toContain('line 2: is no JSON')
    const rest = await system
      .good(['enqueue', '--batch', file, '--json'], { input: '' })
      .catch(String)
    expect(rest).toContain('line 2')
    writeFileSync(file, `broken\n${good}\n`)
    const onward = await system.good(['enqueue', '--batch', file, '--from-line', '2'])
    expect(onward.output).toBe('1 run enqueued\n')
  } finally {
    removeTempFolder(folder)
  }
})

test('dead letters: listed, grouped, redriven, discarded', async () => {
  const payload = JSON.stringify({ command: '/bin/false' })
  const dead = ['--payload', payload, '--attempts', '1', '--wait']
  const ids: string[] = []
  for (const _ of [1, 2]) {
    const told = await system.jadwal(['enqueue', 'shell.exec', ...dead])
    ids.push(UUID.exec(told.output)?.[0] ?? '')
  }
  const [first = '', second = ''] = ids
  await eventually(async () => {
    const { output } = await system.good(['dead', 'list', '--job', 'shell.exec'])
    expect(output).toContain(first)
    expect(output).toContain(second)
  })
  const groups = await system.good(['dead', 'groups', '--json'])
  const [group] = (groups.json as { items: { fingerprint: string; count: number }[] }).items
  expect(group?.count).toBeGreaterThanOrEqual(2)
  expect((await system.good(['dead', 'groups'])).output).toContain(group?.fingerprint)

  const redriven = await system.good(['dead', 'redrive', first])
  expect(redriven.output).toMatch(new RegExp(`^${first} is made again as ${UUID.source}\n$`))
  const retried = await system.jadwal(['runs', 'retry', first])
  expect(retried.output).toContain(UUID.exec(redriven.output.split(' as ')[1] ?? '')?.[0])
  const refused = await system.jadwal(['dead', 'redrive', NOBODY])
  expect(refused.exitCode).toBe(1)
  expect(refused.output).toContain('is refused (not-found)')

  const filter = ['--fingerprint', group?.fingerprint ?? '']
  const unasked = await system.jadwal(['dead', 'redrive', ...filter])
  expect(unasked.exitCode).toBe(2)
  expect(unasked.errors).toContain('Give --yes to do it')
  const many = await system.good([
    'dead',
    'redrive',
    ...filter,
    '--rate',
    '100',
    '--wait',
    '--yes',
    '--json',
  ])
  expect(many.json).toMatchObject({ state: 'done', refused: 0 })
  const { id } = many.json as { id: string }
  expect((await system.good(['redrives', 'show', id])).output).toMatch(/state +done/)
  expect((await system.good(['redrives', 'list'])).output).toContain(id)
  const over = await system.jadwal(['redrives', 'cancel', id])
  expect(over.errors).toContain('The redrive has ended (409)')

  const last = await system.jadwal(['enqueue', 'shell.exec', ...dead])
  const letter = UUID.exec(last.output)?.[0] ?? ''
  const gone = await system.good(['dead', 'discard', letter, '--reason', 'a test'])
  expect(gone.output).toBe(`${letter} is discarded\n`)
  const rest = await system.good([
    'dead',
    'discard',
    '--job',
    'shell.exec',
    '--reason',
    'a test',
    '--yes',
  ])
  expect(rest.output).toMatch(/^\d+ dead letters are discarded\n$/)
})

test('a queue is paused, and a run in it explained; statistics and alerts are shown', async () => {
  const queue = 'shell'
  const paused = await system.good(['queues', 'pause', queue, '--reason', 'a test'])
  expect(paused.output).toBe('shell is paused\n')
  const id = await enqueue('--payload', echo('waits'))
  const why = await system.good(['runs', 'explain', id])
  expect(why.output).toMatch(/ {2}queue-paused: .*a test/)
  expect((await system.good(['runs', 'explain', id, '--json'])).json).toMatchObject({
    id,
    reasons: expect.any(Array),
  })
  expect((await system.good(['queues', 'resume', queue])).output).toBe(`${queue} is open\n`)
  expect((await system.good(['stats', '--job', 'shell.exec'])).output).toMatch(/^TIME +SUCCEEDED/m)
  expect((await system.good(['alerts', 'rules', 'list'])).output).toMatch(/^RULE +KIND/)
  await system.good(['alerts', 'silence', 'quiet', '--until', '1h', '--queue', queue])
  expect((await system.good(['alerts', 'silences', 'show', 'quiet'])).output).toContain(queue)
  await system.good(['alerts', 'list', '--state', 'open', '--json'])
})

test('queues and workers are listed', async () => {
  const queues = await system.good(['queues', 'list'])
  expect(queues.output).toMatch(/^QUEUE +STATE +WAITING/)
  const workers = await system.good(['workers'])
  expect(workers.output).toMatch(/^WORKER +STATE +VERSION/)
  expect((await system.good(['workers', '--json'])).json).toMatchObject({ nextCursor: null })
})

test('the leader is shown, and hands over to another', async () => {
  const shown = await eventually(() => system.good(['leader', 'show']))
  expect(shown.output).toMatch(/^leader +\S+\nterm +\d+\nsince /)
  await using _standby = await system.start('scheduler')
  const before = (await system.good(['leader', 'show', '--json'])).json as { term: number }
  // The standby may need longer than an answer waits for it.
  const down = await eventually(() => system.good(['leader', 'step-down']))
  expect(down.output).toMatch(/^\S+ leads now, term \d+\n$/)
  const after = (await system.good(['leader', 'show', '--json'])).json as { term: number }
  expect(after.term).toBeGreaterThan(before.term)
  const terms = await eventually(async () => {
    const told = await system.good(['leader', 'terms'])
    expect(told.output).toContain('stepped-down')
    return told
  })
  expect(terms.output).toMatch(/^TERM +INSTANCE/)
})
