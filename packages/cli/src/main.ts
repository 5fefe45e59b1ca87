import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { systemClock } from '@jadwal/domain'
import { runCommand } from './program.ts'

process.exitCode = await runCommand(process.argv.slice(2), {
  readFile: (path) => readFile(path, 'utf8'),
  readInput: () => text(process.stdin),
  writeOutput: (written) => void process.stdout.write(written),
  writeError: (written) => void process.stderr.write(written),
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  clock: systemClock,
})
