import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { systemClock } from '@jadwal/domain'
import { runCommand } from './program.ts'

// A reader that has seen enough, such as head, is no error.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })

process.exitCode = await runCommand(process.argv.slice(2), {
  readFile: (path) => readFile(path, 'utf8'),
  readInput: () => text(process.stdin),
  writeOutput: (written) => void process.stdout.write(written),
  writeError: (written) => void process.stderr.write(written),
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  clock: systemClock,
})
