import { defineJob, type Isolation, type JobContext, PermanentError } from '@jadwal/sdk'
import { z } from 'zod'

const Payload = z.object({
  how: z.enum(['ok', 'retry', 'dead', 'parent']),
  pin: z.string(),
  order: z.string().optional(),
})
type Payload = z.infer<typeof Payload>

const common = {
  queue: 'payloads',
  payload: Payload,
  attempts: 2,
  backoff: { type: 'fixed', delayMs: 50 },
  searchable: ['order'],
} as const

/** Say what they redact wherever a handler can say something. */
export const talkers = ([undefined, 'thread', 'process'] as const).map((isolate) =>
  defineJob({
    ...common,
    ...isolated(isolate),
    name: `talks.${isolate ?? 'here'}`,
    redact: ['pin'],
    async handler({ how, pin, order }, ctx) {
      ctx.log.info({ pin, nested: [{ pin: `<${pin}>` }] }, `the pin is ${pin}`)
      await ctx.progress({ pin })
      if (how === 'dead') throw new PermanentError(`${pin} is wrong`)
      if (how === 'retry' && ctx.attempt === 1) throw new Error(`not yet ${pin}`)
      if (how === 'parent') await enqueueChildren(ctx, `talks.${isolate ?? 'here'}`, { pin, order })
      return { pin, [pin]: true }
    },
  }),
)

/** Leave their payload in results and progress alone, as logs and errors of encrypted jobs are readable. */
export const keepers = ([undefined, 'thread', 'process'] as const).map((isolate) =>
  defineJob({
    ...common,
    ...isolated(isolate),
    name: `keeps.${isolate ?? 'here'}`,
    encrypt: true,
    async handler({ how, pin, order }, ctx) {
      await ctx.progress({ pin })
      if (how === 'dead') throw new PermanentError('wrong')
      if (how === 'retry' && ctx.attempt === 1) throw new Error('not yet')
      if (how === 'parent') await enqueueChildren(ctx, `keeps.${isolate ?? 'here'}`, { pin, order })
      return { pin }
    },
  }),
)

export const jobs = [...talkers, ...keepers]

async function enqueueChildren(
  ctx: JobContext,
  name: string,
  payload: Pick<Payload, 'pin' | 'order'>,
): Promise<void> {
  await ctx.enqueue({ name }, { ...payload, how: 'ok' })
  await ctx.enqueue({ name }, { ...payload, how: 'ok' }, { delayMs: 300 })
}

function isolated(isolate: Isolation | undefined) {
  return isolate === undefined ? {} : { isolate }
}
