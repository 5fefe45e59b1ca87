import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { systemClock } from '@jadwal/domain'
import { askPerson, editText } from './person.ts'
import { runCommand } from './program.ts'
import { READER_GONE } from './terminal.ts'

const stop = new AbortController()
// A reader that has seen enough, such as head, is no error: nothing more is to be done for it.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (stream === process.stdout) stop.abort(READER_GONE)
  })

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
for (const signal of SIGNALS)
  process.once(signal, () => {
    stop.abort()
    // Once more ends what does not heed it.
    process.once(signal, () => process.exit(130))
  })

process.exitCode = await runCommand(process.argv.slice(2), {
  readFile: (path) => readFile(path, 'utf8'),
  readInput: () => text(process.stdin),
  writeOutput: (written) => void process.stdout.write(written),
  writeError: (written) => void process.stderr.write(written),
  ask: (question) => askPerson(question, stop.signal),
  edit: (name, before) => editText(name, before, process.env),
  become: async (file) => {
    for (const signal of SIGNALS) process.removeAllListeners(signal)
    await import(pathToFileURL(file).href)
  },
  env: process.env,
  outputColumns: () => (process.stdout.isTTY ? process.stdout.columns : undefined),
  errorColumns: () => (process.stderr.isTTY ? process.stderr.columns : undefined),
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  clock: systemClock,
  stop: stop.signal,
})
