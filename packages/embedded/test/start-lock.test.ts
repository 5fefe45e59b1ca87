import { readdirSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, makeTempFolder, removeTempFolder } from '@jadwal/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AlreadyRunningError, takeStartLock } from '../src/start-lock.ts'

let folder = ''
beforeEach(() => {
  folder = makeTempFolder('lock')
})
afterEach(() => removeTempFolder(folder))

test('only one process holds the lock, until it gives it back', async () => {
  const file = join(folder, 'lock')
  const lock = await takeStartLock(file)
  await expect(takeStartLock(file)).rejects.toThrow(AlreadyRunningError)
  lock.release()
  const again = await takeStartLock(file)
  again.release()
  expect(readdirSync(folder)).toEqual([])
})

test('the lock of a process that is gone counts for nothing', async () => {
  const file = join(folder, 'lock')
  writeFileSync(file, JSON.stringify({ pid: process.pid, startedAt: 'in another life' }))
  const lock = await takeStartLock(file)
  lock.release()
  expect(readdirSync(folder)).toEqual([])
})

test('a holder that is about to end says so', async () => {
  const file = join(folder, 'lock')
  const lock = await takeStartLock(file)
  await expect(takeStartLock(file)).rejects.toMatchObject({ stopping: false, pid: process.pid })
  lock.markStopping()
  await expect(takeStartLock(file)).rejects.toMatchObject({ stopping: true })
  lock.release()
})

test('while it gives the lock back, nobody sees one that goes on', async () => {
  const file = join(folder, 'lock')
  const lock = await takeStartLock(file)
  lock.markStopping()
  const gone: string[] = []
  const watcher = watch(folder, (_event, name) => void gone.push(String(name)))
  lock.release()
  await eventually(() => expect(gone).toHaveLength(2))
  watcher.close()
  expect(gone).toEqual(['lock', 'lock.stopping'])
})

test('who looks at a lock that is given back meanwhile gets it, or is told to wait', async () => {
  const file = join(folder, 'lock')
  const refusals: unknown[] = []
  for (let round = 0; round < 50; round += 1) {
    const lock = await takeStartLock(file)
    lock.markStopping()
    const waiting = takeStartLock(file).then(
      (next) => next.release(),
      (error: unknown) => void refusals.push(error),
    )
    // Between two steps of it, another one each round.
    for (let step = 0; step < round; step += 1) await new Promise(setImmediate)
    lock.release()
    await waiting
  }
  for (const refusal of refusals) expect(refusal).toMatchObject({ stopping: true })
})

test.each(['', '{"pid":', 'null', '{}'])('a damaged lock (%j) counts for nothing', async (text) => {
  const file = join(folder, 'lock')
  writeFileSync(file, text)
  const lock = await takeStartLock(file)
  lock.release()
  expect(readdirSync(folder)).toEqual([])
})

test.runIf(process.platform === 'linux')(
  'a lock that was damaged while it is held still keeps others out',
  async () => {
    const file = join(folder, 'lock')
    const lock = await takeStartLock(file)
    writeFileSync(file, '')
    await expect(takeStartLock(file)).rejects.toMatchObject({ pid: process.pid, stopping: false })
    lock.release()
  },
)
