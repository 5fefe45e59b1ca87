import { EventEmitter, once } from 'node:events'
import { createTestDatabase } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { listSchedules, openDatabase } from '../src/index.ts'
import { underScheduleLock } from '../src/schedule-lock.ts'

const BUSY = expect.objectContaining({ code: 'SCHEDULES_BUSY' })

const work = async (): Promise<string> => 'done'

/** A pool of four connections, and a process beside it that changes schedules until it is let go. */
async function setupBusy() {
  const database = await createTestDatabase(inject('postgresUrl'))
  const other = openDatabase({ url: database.url, schema: 'jadwal', max: 1 })
  const holds = new EventEmitter()
  const begun = once(holds, 'begin')
  const holding = underScheduleLock(other, async () => {
    const ended = once(holds, 'end')
    holds.emit('begin')
    await ended
  })
  const letGo = async (): Promise<void> => {
    holds.emit('end')
    await holding
  }
  onTestFinished(async () => {
    await letGo()
    await other.destroy()
    await database[Symbol.asyncDispose]()
  })
  await begun
  return { db: database.db, letGo }
}

test('a change that waited for as long as it would is told to try later, and so are those in line behind it', async () => {
  const { db, letGo } = await setupBusy()
  const patience = { waitMs: 20, waits: 2 }
  const changes = [underScheduleLock(db, work, patience), underScheduleLock(db, work, patience)]
  const inLine = [underScheduleLock(db, work), underScheduleLock(db, work)]
  for (const change of await Promise.allSettled([...changes, ...inLine]))
    expect(change).toMatchObject({ status: 'rejected', reason: BUSY })
  await letGo()
  const later = await Promise.all([1, 2, 3].map(() => underScheduleLock(db, work)))
  expect(later).toEqual(['done', 'done', 'done'])
})

test('changes that wait leave connections to reads, and more than wait in line are refused at once', async () => {
  const { db, letGo } = await setupBusy()
  const waiting = Array.from({ length: 22 }, (_, at) => underScheduleLock(db, async () => at))
  await expect(underScheduleLock(db, async () => 22)).rejects.toEqual(BUSY)
  expect((await listSchedules(db, {})).items).toEqual([])
  await letGo()
  expect(await Promise.all(waiting)).toEqual(waiting.map((_, at) => at))
})
