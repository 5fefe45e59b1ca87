import { CommandError, ProblemError, UnreachableError, UsageError } from '../http/api-errors.ts'
import { READER_GONE, type Terminal } from '../terminal.ts'
import { oneLine, safeLines } from './one-line.ts'

export const FAILED = 1
export const USAGE_ERROR = 2
/** As shells have it for a command that Ctrl-C ended. */
const INTERRUPTED = 130

/** Says on standard error what went wrong, and gives the exit code. What nobody foresaw is thrown on. */
export function tellError(terminal: Terminal, error: unknown, isJson: boolean): number {
  if (terminal.stop.aborted) return terminal.stop.reason === READER_GONE ? 0 : INTERRUPTED
  const say = (text: string): void => terminal.writeError(`${text}\n`)
  if (error instanceof ProblemError) {
    say(isJson ? JSON.stringify(error.document) : problemText(error, terminal))
    return FAILED
  }
  if (error instanceof UsageError) {
    terminal.writeError(usageText(`error: ${safeLines(error.message).join('\n')}\n`, isJson))
    return USAGE_ERROR
  }
  if (error instanceof CommandError || error instanceof UnreachableError) {
    say(isJson ? JSON.stringify({ detail: error.message }) : words(error.message))
    return FAILED
  }
  throw error
}

/** What is wrong about a command line, which `text` says in words. */
export function usageText(text: string, isJson: boolean): string {
  return isJson ? `${JSON.stringify({ detail: text.trim().replace(/^error: /, '') })}\n` : text
}

function words(message: string): string {
  return `jadwal: ${safeLines(message).join('\n')}`
}

/** Every field of the document, in words. */
function problemText({ status, document }: ProblemError, terminal: Terminal): string {
  const { title = 'The api refuses', detail = '', errors = [], requestId, ...rest } = document
  const { type: _type, status: _status, ...more } = rest
  const lines = [`jadwal: ${oneLine(title)} (${status}): ${oneLine(detail)}`]
  for (const { field, message, value } of errors) {
    const given = value === undefined ? '' : ` (it is ${JSON.stringify(value)})`
    lines.push(`  ${oneLine(`${field}: ${message}${given}`)}`)
  }
  for (const [name, value] of Object.entries(more))
    lines.push(
      `  ${oneLine(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)}`,
    )
  lines.push(...cure(status, terminal))
  if (requestId !== undefined) lines.push(`  request ${oneLine(requestId)}`)
  return lines.join('\n')
}

function cure(status: number, { env }: Terminal): string[] {
  if (status === 403)
    return ['  "jadwal whoami" says who you are; an admin makes a token with another role.']
  if (status !== 401) return []
  const had = env['JADWAL_TOKEN'] ? 'JADWAL_TOKEN is not, or no longer, right.' : ''
  return [
    `  ${had} Put a token into JADWAL_TOKEN, or into a file and give --token-file.`.replace(
      '   ',
      '  ',
    ),
    '  An admin makes one with "jadwal token create NAME --role operator"; the first one is JADWAL_ADMIN_TOKEN of the api ("jadwal up" and "npm start" print it).',
  ]
}
