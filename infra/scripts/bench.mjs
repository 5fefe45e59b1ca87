// npm run bench [-- NAME …]: runs test/bench/*.bench.ts on a Redis and a Postgres of its own.
import { checkNodeVersion, ensureBuilt, ensureInstalled, run, tool } from './project.mjs'

checkNodeVersion()
await ensureInstalled()
await ensureBuilt()
const { code } = await run(tool('tsx'), ['test/setup/run-bench.ts', ...process.argv.slice(2)])
process.exitCode = code
