import { runService } from '@jadwal/runtime'
import { readConfig } from './config.ts'
import { startRecorder } from './start-recorder.ts'

await runService({ name: 'recorder', env: process.env, readConfig, start: startRecorder })
