import { type AnyJob, defineJob, type JobContext, PermanentError } from '@jadwal/sdk'
import { z } from 'zod'
import { type Command, type CommandEnd, runCommand } from './run-command.ts'
import type { Settings } from './settings.ts'

/** Of the output, what an error's message carries. */
const MESSAGE_CHARS = 4_000

const Text = z.string().refine((text) => !text.includes('\u0000'), 'must not contain NUL')

const ShellExecPayload = z.strictObject({
  command: Text.min(1).describe('Absolute path of the executable; with shell: the script itself.'),
  args: z.array(Text).optional().describe('Arguments; with shell: $1, $2 … of the script.'),
  cwd: Text.optional().describe('Working directory; / when left out.'),
  env: z.record(Text.regex(/^[^=]+$/), Text).optional(),
  stdin: z.string().optional(),
  shell: Text.optional().describe('Absolute path of a shell, which then runs command as script.'),
})
type ShellExecPayload = z.output<typeof ShellExecPayload>

/** The command ended with another exit code than 0, or by a signal. Tried again like any failure. */
class CommandFailedError extends Error {
  override name = 'CommandFailedError'
  readonly code: string

  constructor(end: CommandEnd) {
    const how = end.signal === null ? `exit code ${end.exitCode}` : `ended by ${end.signal}`
    const output = end.output.trimEnd().slice(-MESSAGE_CHARS)
    super(output === '' ? how : `${how}\n${output}`)
    this.code = end.signal ?? `EXIT_${end.exitCode}`
  }
}

/** `shell.exec`: runs a command that the worker's environment allows. */
export function shellExec(settings: Settings): AnyJob {
  return defineJob({
    name: 'shell.exec',
    queue: 'shell',
    description: 'Runs a command of the allow-list JADWAL_EXEC_ALLOW on the worker.',
    payload: ShellExecPayload,
    async handler(payload, ctx) {
      const command = allowed(payload, settings)
      const end = await start({ ...command, env: environment(payload, ctx, settings) }, ctx.signal)
      if (ctx.signal.aborted) {
        ctx.log.warn({ output: end.output.slice(-MESSAGE_CHARS) }, 'command ended by abort')
        throw ctx.signal.reason
      }
      if (end.exitCode !== 0) throw new CommandFailedError(end)
      return { exitCode: 0, output: end.output, truncated: end.truncated }
    },
  })
}

/** With a shell, it is the shell that must be in the list: what it runs can't be told from its script. */
function allowed(payload: ShellExecPayload, settings: Settings): Omit<Command, 'env'> {
  const { command, args = [], shell, cwd = '/', stdin = '' } = payload
  const file = shell ?? command
  if (!settings.execAllow.includes(file)) {
    const list = settings.execAllow.join(', ') || 'nothing: it is unset'
    throw new PermanentError(
      `${shell === undefined ? 'command' : 'shell'} ${JSON.stringify(file)} may not be run here: JADWAL_EXEC_ALLOW of the worker allows ${list}`,
    )
  }
  return { file, args: shell === undefined ? args : ['-c', command, shell, ...args], cwd, stdin }
}

function environment(
  payload: ShellExecPayload,
  ctx: JobContext,
  settings: Settings,
): Record<string, string> {
  return {
    ...settings.commandEnv,
    JADWAL_RUN_ID: ctx.runId,
    JADWAL_ATTEMPT: String(ctx.attempt),
    ...(ctx.tickAt ? { JADWAL_TICK_AT: ctx.tickAt.toISOString() } : {}),
    ...(ctx.schedule === undefined ? {} : { JADWAL_SCHEDULE: ctx.schedule }),
    ...payload.env,
  }
}

const NEVER = new Set(['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC', 'E2BIG', 'ERR_INVALID_ARG_VALUE'])

async function start(command: Command, signal: AbortSignal): Promise<CommandEnd> {
  signal.throwIfAborted()
  try {
    return await runCommand(command, signal)
  } catch (error) {
    if (error instanceof Error && 'code' in error && NEVER.has(String(error.code)))
      throw new PermanentError(
        `can't run ${command.file} in ${command.cwd}: ${error.message} (is there such a file and such a directory on the worker?)`,
        { cause: error },
      )
    throw error
  }
}
