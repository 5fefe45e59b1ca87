import type { EnqueueManyOptions, JobContext, NamedJob } from '@jadwal/sdk'
import type { Child } from './child.ts'
import type { CallOfChild, LogOfChild } from './messages.ts'
import { receivedError, sentThrown } from './sent-error.ts'

type EnqueueArgs = [job: NamedJob, payloads: readonly unknown[], options: EnqueueManyOptions]

/** Does what a handler in a child asks of its context, and answers. Never rejects. */
export async function answer(child: Child, ctx: JobContext, asked: CallOfChild): Promise<void> {
  const { call } = asked
  try {
    child.send({ type: 'answer', call, value: await carryOut(ctx, asked) })
  } catch (error) {
    child.send({ type: 'answer', call, error: sentThrown(error) })
  }
}

/** Writes a line of a handler in a child to the log of its attempt. */
export function writeLog(ctx: JobContext, { level, message, facts, errors }: LogOfChild): void {
  if (facts === undefined) return ctx.log[level](message ?? '')
  const read = JSON.parse(facts) as Record<string, unknown>
  for (const [name, error] of Object.entries(errors ?? {})) read[name] = receivedError(error)
  ctx.log[level](read, message)
}

function carryOut(ctx: JobContext, { method, args }: CallOfChild): Promise<unknown> {
  switch (method) {
    case 'progress':
      return ctx.progress(args[0])
    case 'enqueueMany':
      return ctx.enqueueMany(...(args as EnqueueArgs))
  }
}
