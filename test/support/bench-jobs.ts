import { defineJob } from '@jadwal/sdk'
import { z } from 'zod'

/** The cheapest job there is: what is left is what Jadwal costs. */
const noop = defineJob({
  name: 'bench.noop',
  queue: 'bench',
  payload: z.object({ n: z.number() }),
  handler: () => {},
})

export const jobs = [noop]
