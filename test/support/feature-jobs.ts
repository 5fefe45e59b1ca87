import { defineJob } from '@jadwal/sdk'
import { z } from 'zod'

/** One job for each feature, that does nothing besides; `bench.plain` uses none. */
const queue = 'bench'
const payload = z.object({ n: z.number() })
const base = { queue, payload, handler: () => {} }

const plain = defineJob({ ...base, name: 'bench.plain' })
const keyed = defineJob({
  ...base,
  name: 'bench.keyed',
  concurrency: { key: ({ n }) => `key-${n % 1_000}`, limit: 100 },
})
const fused = defineJob({ ...base, name: 'bench.fused', fuse: {} })
/** By themselves, as each run in hand has a child of its own. */
const apart = { ...base, queue: 'bench-apart' }
const thread = defineJob({ ...apart, name: 'bench.thread', isolate: 'thread' })
const process = defineJob({ ...apart, name: 'bench.process', isolate: 'process' })
const logging = defineJob({
  ...base,
  name: 'bench.logging',
  handler({ n }, ctx) {
    for (const step of ['first', 'second', 'third']) ctx.log.info({ n }, step)
  },
})
const parent = defineJob({
  ...base,
  name: 'bench.parent',
  handler: ({ n }, ctx) => ctx.enqueue(plain, { n }),
})
const secret = defineJob({
  ...base,
  name: 'bench.secret',
  payload: z.object({ n: z.number(), password: z.string() }),
})

export const jobs = [plain, keyed, fused, thread, process, logging, parent, secret]
