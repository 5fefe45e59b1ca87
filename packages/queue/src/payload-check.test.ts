import type { JobDescription } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { PayloadCheck } from './payload-check.ts'

const job = {
  name: 'mail.send',
  payloadSchema: {
    type: 'object',
    properties: { to: { type: 'string' } },
    required: ['to'],
    additionalProperties: false,
  },
} as Partial<JobDescription> as JobDescription

test('each bad field is named, and what a secret stands for is left to the worker', () => {
  const check = new PayloadCheck()
  expect(check.problems(job, { to: 'a' })).toEqual([])
  expect(check.problems(job, { to: { secret: 'ADDRESS' } })).toEqual([])
  expect(check.problems(job, { to: 1, cc: 'b' })).toEqual([
    { field: 'payload.cc', message: 'is not known' },
    { field: 'payload.to', message: 'must be string' },
  ])
})

test('thousands of bad fields take no time to speak of and are named in part', () => {
  const payload = Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [`k${n}`, n]))
  const startedAt = performance.now()
  const problems = new PayloadCheck().problems(job, payload)
  expect(performance.now() - startedAt).toBeLessThan(15_000)
  expect(problems).toHaveLength(21)
  expect(problems.at(-1)?.message).toBe('has further problems')
})
