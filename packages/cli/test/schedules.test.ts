import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, makeTempFolder, removeTempFolder } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { setupSystem, type TestSystem } from './jadwal.ts'

const FILE = `version: 1
schedules:
  hourly:
    job: shell.exec
    cron: "0 * * * *"
    timezone: Asia/Jakarta
    overlap: allow
    payload: { command: /bin/echo, args: [hourly] }
    labels: { team: billing }
  yearly:
    job: shell.exec
    cron: "0 0 1 1 *"
    payload: { command: /bin/echo }
`

// Each call is a process of its own: on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let system: TestSystem
let folder = ''
let file = ''
beforeAll(async () => {
  folder = makeTempFolder('cli-schedules')
  file = join(folder, 'schedules.yaml')
  writeFileSync(file, FILE)
  system = await setupSystem(['worker', 'recorder', 'scheduler'])
  await system.good(['schedules', 'apply', file])
})
afterAll(async () => {
  await system[Symbol.asyncDispose]()
  removeTempFolder(folder)
})

test('a file is planned and applied, and what is wrong in it is named', async () => {
  const other = join(folder, 'other.yaml')
  writeFileSync(other, FILE.replace('"0 * * * *"', '"30 * * * *"').replace('yearly:', 'monthly:'))
  const plan = await system.good(['schedules', 'plan', other, '--prune'])
  expect(plan.output).toContain('+ monthly')
  expect(plan.output).toMatch(
    /~ hourly\n {4}- cron: "0 \* \* \* \*"\n {4}\+ cron: "30 \* \* \* \*"/,
  )
  expect(plan.output).toContain('- yearly')
  expect(plan.output).toContain('1 to add, 1 to change, 1 to remove, 0 unchanged')
  const same = await system.good(['schedules', 'apply', file, '--json'])
  expect(same.json).toMatchObject({ added: [], changed: [], removed: [] })
  const bad = await system.jadwal(['schedules', 'apply', '-'], {
    input: FILE.replace('"0 * * * *"', '"61 * * * *"'),
  })
  expect(bad.exitCode).toBe(1)
  expect(bad.errors).toMatch(/ {2}schedules\.hourly\.cron: /)
  const unread = await system.jadwal(['schedules', 'plan', join(folder, 'nowhere.yaml')])
  expect(unread.exitCode).toBe(1)
  expect(unread.errors).toContain('nowhere.yaml cannot be read')
})

test('schedules are listed and shown, with their ticks', async () => {
  const list = await system.good(['schedules', 'list', '--label', 'team:billing'])
  expect(list.output).toMatch(/^SCHEDULE +STATE +CADENCE/)
  expect(list.output).toMatch(/^hourly +live +0 \* \* \* \* Asia\/Jakarta +shell\.exec/m)
  expect(list.output).not.toContain('yearly')
  const shown = await system.good(['schedules', 'show', 'hourly'])
  expect(shown.output).toMatch(/next tick +\d{4}.*\(in /)
  expect(shown.output).toMatch(/labels +\{"team":"billing"\}/)
  const next = await system.good(['schedules', 'next', 'hourly', '--count', '2'])
  expect(next.output.trim().split('\n')).toHaveLength(3)
  expect(
    (await system.good(['schedules', 'next', 'hourly', '--count', '2', '--json'])).json,
  ).toMatchObject({
    items: [{ tickAt: expect.any(String) }, { tickAt: expect.any(String) }],
  })
  const ticks = await system.good(['schedules', 'ticks', 'hourly', '--to', '2h'])
  expect(ticks.output).toMatch(/upcoming/)
  const load = await system.good(['schedules', 'load', '--bucket', '1h'])
  expect(load.output).toMatch(/^\d+ ticks of 1 schedules from /)
  const none = await system.jadwal(['schedules', 'show', 'nightly'])
  expect(none.exitCode).toBe(1)
  expect(none.errors).toContain('jadwal: Not found (404): There is no schedule "nightly".')
})

test('a schedule is paused, resumed and triggered; so is everything', async () => {
  const paused = await system.good([
    'schedules',
    'pause',
    'hourly',
    '--reason',
    'audit',
    '--until',
    '2h',
  ])
  expect(paused.output).toMatch(/^hourly rests \(since .* until .*: audit\)\n$/)
  expect((await system.good(['schedules', 'list'])).output).toMatch(/^hourly +paused/m)
  const resumed = await system.good(['schedules', 'resume', 'hourly'])
  expect(resumed.output).toMatch(/^hourly fires again; next tick: /)
  const all = await system.good(['schedules', 'pause', '--everything', '--json'])
  expect(all.json).toMatchObject({ pause: { since: expect.any(String) } })
  expect((await system.good(['schedules', 'resume', '--everything'])).output).toBe(
    'Everything fires again\n',
  )
  const both = await system.jadwal(['schedules', 'pause', 'hourly', '--everything'])
  expect(both.exitCode).toBe(2)
  const triggered = await system.good(['schedules', 'trigger', 'hourly', '--wait'])
  expect(triggered.output).toContain('hourly')
})

test('a backfill is asked for and followed', async () => {
  const range = ['--from', '3h', '--to', 'now']
  const done = await system.good(['schedules', 'backfill', 'hourly', ...range, '--wait'])
  expect(done.output).toMatch(/ is done: 3 succeeded\n$/)
  const list = await system.good(['backfills', 'list', '--schedule', 'hourly', '--json'])
  const [backfill] = (list.json as { items: { id: string }[] }).items
  expect(list.json).toMatchObject({ items: [{ state: 'done', ticks: 3, enqueued: 3 }] })
  const shown = await system.good(['backfills', 'show', backfill?.id ?? ''])
  expect(shown.output).toMatch(/runs +3 succeeded/)
  const over = await system.jadwal(['backfills', 'pause', backfill?.id ?? ''])
  expect(over).toMatchObject({ exitCode: 1 })
  expect(over.errors).toContain('The backfill has ended (409)')
})

test('a schedule of its own is set, edited, rolled back and deleted', async () => {
  const fields = { job: 'shell.exec', cron: '0 6 * * *', payload: { command: '/bin/echo' } }
  const set = await system.good(['schedules', 'set', 'mine', '-'], {
    input: JSON.stringify(fields),
  })
  expect(set.output).toMatch(/^mine is created; next tick: /)
  const editor = join(folder, 'editor.sh')
  writeFileSync(editor, '#!/bin/sh\nsed -i "s/0 6/30 7/" "$1"\n')
  chmodSync(editor, 0o755)
  const edited = await system.good(['schedules', 'edit', 'mine', '--reason', 'later'], {
    env: { EDITOR: editor },
  })
  expect(edited.output).toMatch(/^mine is version 2; /)
  const versions = await system.good(['schedules', 'versions', 'mine'])
  expect(versions.output).toMatch(/ later +cron$/m)
  const unchanged = await system.good(['schedules', 'edit', 'mine'], { env: { EDITOR: 'true' } })
  expect(unchanged.errors).toBe('Nothing was changed.\n')
  const back = await system.good(['schedules', 'rollback', 'mine', '--to', '1'])
  expect(back.output).toBe('mine is what version 1 said, as version 3\n')
  const foreign = await system.jadwal(['schedules', 'rollback', 'hourly', '--to', '1'])
  expect(foreign.errors).toContain('Made by the schedule file (409)')
  const unasked = await system.jadwal(['schedules', 'delete', 'mine'])
  expect(unasked.exitCode).toBe(2)
  expect((await system.good(['schedules', 'delete', 'mine', '--yes'])).output).toBe(
    'mine is deleted\n',
  )
})

test('calendars are set, listed, shown and deleted', async () => {
  const input = 'description: closed\ndates: ["2026-12-25"]\n'
  await system.good(['calendars', 'set', 'holidays', '-'], { input })
  expect((await system.good(['calendars', 'list'])).output).toMatch(/^holidays +api/m)
  expect((await system.good(['calendars', 'show', 'holidays'])).output).toContain('2026-12-25')
  await system.good(['calendars', 'delete', 'holidays', '--yes'])
})

test('a cron expression is told in words', async () => {
  const told = await system.good([
    'cron',
    '0 6 1 * *',
    '--timezone',
    'Asia/Jakarta',
    '--count',
    '2',
  ])
  expect(told.output).toContain('06:00')
  expect(told.output.trim().split('\n')).toHaveLength(4)
  const bad = await system.jadwal(['cron', '99 * * * *'])
  expect(bad.exitCode).toBe(1)
  expect(bad.errors).toMatch(/ {2}cron: /)
})

test('what the history has is the same for programs', async () => {
  await eventually(async () => {
    const told = await system.good(['runs', 'list', '--schedule', 'hourly', '--json'])
    expect(told.json).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ schedule: 'hourly' })]),
    })
  })
})
