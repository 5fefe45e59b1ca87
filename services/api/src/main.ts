import { runService } from '@jadwal/runtime'
import { readConfig } from './config.ts'
import { startApi } from './start-api.ts'

await runService({ name: 'api', env: process.env, readConfig, start: startApi })
