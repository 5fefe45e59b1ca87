import { runService } from '@jadwal/runtime'
import { readConfig } from './config.ts'
import { startWorker } from './start-worker.ts'

await runService({ name: 'worker', env: process.env, readConfig, start: startWorker })
