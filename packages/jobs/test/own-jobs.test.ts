import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { type AnyJob, describeJob, isPermanentError } from '@jadwal/sdk'
import { PROJECT_ROOT, removeTempFolder } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { attempt, RUN_ID } from './attempt.ts'

/** Bundles the module as docs/jobs.md says, into the project, where its packages are found. */
async function bundle() {
  const source = fileURLToPath(new URL('own-jobs.ts', import.meta.url))
  const outfile = join(PROJECT_ROOT, 'packages', 'jobs', 'dist', `own-jobs-${process.pid}.js`)
  const script = join(PROJECT_ROOT, 'infra', 'build', 'bundle.mjs')
  await promisify(execFile)(process.execPath, [script, source, outfile])
  const module = (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as {
    jobs: AnyJob[]
  }
  return {
    jobs: module.jobs,
    [Symbol.dispose]: () => {
      removeTempFolder(outfile)
      removeTempFolder(`${outfile}.map`)
    },
  }
}

test('a module of one’s own, bundled, brings jobs that work with this copy of the sdk', async () => {
  using own = await bundle()
  const [job] = own.jobs
  if (!job) throw new Error('no job')
  expect(describeJob(job)).toMatchObject({ name: 'card.charge', queue: 'payments', attempts: 5 })
  const charged = await attempt(job, { customer: 'c1', cents: 500 })
  expect(charged).toEqual({ charged: 500, idempotencyKey: RUN_ID })
  const error: unknown = await attempt(job, { customer: 'c1', cents: 500_000 }).catch(
    (reason: unknown) => reason,
  )
  expect(isPermanentError(error)).toBe(true)
})
