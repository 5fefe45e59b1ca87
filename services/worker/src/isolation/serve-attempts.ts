import type { AnyJob } from '@jadwal/sdk'
import { importJobs } from '../jobs-module.ts'
import { ChildCalls } from './child-calls.ts'
import { ChildContext } from './child-context.ts'
import type { ChildLink } from './child-link.ts'
import type { ToChild } from './messages.ts'
import { resultOf } from './result-of.ts'
import { receivedError, sentThrown } from './sent-error.ts'

type Make = Extract<ToChild, { type: 'make' }>

interface JobsModule {
  jobs?: readonly AnyJob[]
  default?: readonly AnyJob[]
}

/** Loads the jobs and makes the attempts that the worker asks for, one at a time, until it is ended. */
export async function serveAttempts(link: ChildLink, jobsModule: string): Promise<void> {
  const crash = (error: unknown): void =>
    link.endWith({ type: 'crashed', error: sentThrown(error) })
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)

  let jobs: ReadonlyMap<string, AnyJob>
  try {
    // The worker has looked at what it exports.
    const loaded = (await importJobs(jobsModule)) as JobsModule
    jobs = new Map((loaded.jobs ?? loaded.default ?? []).map((job) => [job.name, job]))
  } catch (error) {
    link.endWith({ type: 'failed', error: sentThrown(error) })
    return
  }

  const calls = new ChildCalls(link)
  let current: { serial: number; ctx: ChildContext } | undefined
  const make = async ({ serial, attempt }: Make): Promise<void> => {
    const ctx = new ChildContext({ link, calls, serial, attempt })
    current = { serial, ctx }
    try {
      const job = jobs.get(attempt.job)
      if (!job) throw new Error(`the child's jobs have no ${attempt.job}: was their file replaced?`)
      const result = resultOf(await job.handler(attempt.payload, ctx))
      link.send({ type: 'returned', serial, ...(result === undefined ? {} : { result }) })
    } catch (error) {
      link.send({ type: 'threw', serial, error: sentThrown(error) })
    } finally {
      ctx.end()
    }
  }
  link.onMessage((message) => {
    switch (message.type) {
      case 'make':
        void make(message)
        return
      case 'abort':
        if (current?.serial === message.serial) current.ctx.abort(receivedError(message.reason))
        return
      case 'answer':
        calls.answered(message)
    }
  })
  link.send({ type: 'ready' })
}
