import { readFileSync } from 'node:fs'
import { readScheduleFile, type ScheduleFile } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { jobs } from '../src/index.ts'

function demo(): ScheduleFile {
  const path = new URL('../../../infra/demo/schedules.yaml', import.meta.url)
  const result = readScheduleFile(parse(readFileSync(path, 'utf8')))
  if (!result.ok) throw new Error(result.problems.join('\n'))
  return result.file
}

test('the demo’s schedule file is valid and names jobs of the catalogue', () => {
  const names = demo().schedules.map(({ spec }) => spec.job)
  expect(jobs.map((job) => job.name)).toEqual(expect.arrayContaining(names))
})

test('each payload of the demo’s schedules passes its job’s schema', () => {
  for (const { spec } of demo().schedules) {
    const job = jobs.find(({ name }) => name === spec.job)
    expect(job?.payload.safeParse(spec.payload).error).toBeUndefined()
  }
})
