/** Runs one command that takes long, and exits on SIGTERM without any care. */
import { runCommand } from '../src/run-command.ts'

process.once('SIGTERM', () => process.exit(70))
const command = {
  file: '/bin/sh',
  args: ['-c', `sleep ${process.argv[2]}; exit`],
  cwd: '/',
  env: { PATH: '/usr/bin:/bin' },
  stdin: '',
}
await runCommand(command, new AbortController().signal)
