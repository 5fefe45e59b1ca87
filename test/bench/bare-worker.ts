import { Worker } from 'bullmq'

/** Bare BullMQ on the other side of the comparison: takes the messages of one queue and keeps nothing. */
const [, , redisUrl = '', queue = '', concurrency = ''] = process.argv
const { hostname, port } = new URL(redisUrl)
const worker = new Worker(queue, async () => {}, {
  connection: { host: hostname, port: Number(port), maxRetriesPerRequest: null },
  concurrency: Number(concurrency),
  removeOnComplete: { count: 0 },
})
await worker.waitUntilReady()
process.send?.({ type: 'ready' })
