import { expect, test } from 'vitest'
import { JobName, QueueName, ScheduleName } from './names.ts'

test.each(['a', 'email.send', '0_1-2', 'x'.repeat(100)])('%s is a name', (name) => {
  for (const schema of [JobName, QueueName, ScheduleName])
    expect(schema.safeParse(name).success).toBe(true)
})

test.each(['', 'A', '.a', '-a', 'a b', 'a:b', 'x'.repeat(101)])('%j is no name', (name) => {
  for (const schema of [JobName, QueueName, ScheduleName])
    expect(schema.safeParse(name).error?.issues[0]?.message).toContain('must match [a-z0-9]')
})

test('names that are addresses of the api, or queues of Jadwal itself, are reserved', () => {
  for (const name of ['plan', 'apply', 'load'])
    expect(ScheduleName.safeParse(name).error?.issues[0]?.message).toContain('is reserved')
  for (const name of ['ticks', 'alerts', 'emails.dead'])
    expect(QueueName.safeParse(name).error?.issues[0]?.message).toContain('is reserved')
})
