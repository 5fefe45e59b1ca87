import { expect, test } from 'vitest'
import { eventually } from '@jadwal/testkit'
import { setupSystem } from '../support/system.ts'

const SECRET = 'open "sesame"'
const IN_JSON = JSON.stringify(SECRET).slice(1, -1)

test('a secret that is thrown where nobody catches it is in no line of a worker', async () => {
  const { producer, start, rows, ended, database } = await setupSystem()
  const worker = start('worker', { JADWAL_SECRET_BANK: SECRET })
  await Promise.all([start('recorder').ready, worker.ready])
  const spill = (name: string, queue: string, late: boolean): Promise<string> =>
    producer.enqueue({ name, queue }, { key: { secret: 'BANK' }, late })

  for (const isolate of ['thread', 'process']) {
    await spill(`isolated.spill.${isolate}`, 'isolated', true)
    await spill(`isolated.spill.${isolate}`, 'isolated', false)
  }
  await ended(4, 60_000)
  await eventually(() =>
    expect(worker.logs.filter((line) => line.includes('in an idle child'))).toHaveLength(2),
  )
  await spill('fault.spill', 'faults', false)
  expect(await worker.exitCode()).toBe(70)
  await ended(5, 60_000)

  const lines = worker.logs.filter((line) => line.includes('the key is'))
  expect(lines.length).toBeGreaterThanOrEqual(3)
  for (const line of worker.logs) {
    expect(line).not.toContain(SECRET)
    expect(line).not.toContain(IN_JSON)
  }
  const errors = await database.db.selectFrom('attempts').select('error').execute()
  expect(JSON.stringify(errors)).toContain('the key is ***')
  expect(JSON.stringify([await rows(), errors])).not.toContain('sesame')
})
