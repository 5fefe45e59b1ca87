import { fileURLToPath } from 'node:url'
import { runSupervisor } from './run-supervisor.ts'

const projectRoot = fileURLToPath(new URL('../../..', import.meta.url))

process.exit(await runSupervisor(process.env, projectRoot))
