import type { AnyJob, JobContext, JobLog } from '@jadwal/sdk'

const quiet: JobLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export const RUN_ID = '01990000-0000-7000-8000-000000000001'

/** Makes one attempt as a worker does: parses the payload, then calls the handler. */
export async function attempt(
  job: AnyJob,
  payload: unknown,
  context: Partial<JobContext> = {},
): Promise<unknown> {
  const ctx: JobContext = {
    runId: RUN_ID,
    attempt: 1,
    signal: new AbortController().signal,
    log: quiet,
    progress: async () => {},
    enqueue: async () => RUN_ID,
    enqueueMany: async () => [],
    ...context,
  }
  return await job.handler(job.payload.parse(payload), ctx)
}
