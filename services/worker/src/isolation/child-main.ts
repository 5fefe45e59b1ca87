import { isMainThread, Worker } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
import { openLink } from './child-link.ts'
import { serveAttempts } from './serve-attempts.ts'

/** What a thread or process runs that makes attempts for a worker. */
const link = openLink()
if (isMainThread) {
  const file = new URL('child-watch.js', import.meta.url)
  new Worker(file, {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16 },
  }).unref()
}
const builtIn = fileURLToPath(new URL('built-in-jobs.js', import.meta.url))
// Its environment is what the worker gave it.
await serveAttempts(link, process.env['JADWAL_JOBS'] ?? builtIn)
