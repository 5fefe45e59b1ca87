import { runService } from '@jadwal/runtime'
import { readConfig } from './config.ts'
import { startScheduler } from './start-scheduler.ts'

await runService({ name: 'scheduler', env: process.env, readConfig, start: startScheduler })
