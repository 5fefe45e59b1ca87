/** Fields that say the same on every line, or are shown in a place of their own. */
const UNSHOWN = new Set([
  'time',
  'level',
  'msg',
  'err',
  'error',
  'service',
  'instance',
  'pid',
  'hostname',
])
/** A warning is about what mends itself: its sentence is enough. */
const WITH_STACK = new Set(['error', 'fatal'])
const LONGEST_VALUE = 200

const COLOURS: Readonly<Record<string, number>> = {
  trace: 90,
  debug: 90,
  info: 32,
  warn: 33,
  error: 31,
  fatal: 35,
}

interface LoggedError {
  type?: string
  name?: string
  message?: string
  stack?: string
}

/** A line of a service's log for the eye: what is JSON by pino becomes time, level, sentence, fields. */
export function renderLogLine(line: string, colour: boolean): string {
  const entry = parse(line)
  if (!entry) return line
  const level = String(entry['level'])
  const shown = level.toUpperCase().padEnd(5)
  const fields = Object.entries(entry)
    .filter(([name, value]) => !UNSHOWN.has(name) && value !== undefined)
    .map(([name, value]) => ` ${paint(`${name}=`, 90, colour)}${renderValue(value)}`)
  return [
    paint(renderTime(entry['time']), 90, colour),
    ` ${paint(shown, COLOURS[level] ?? 0, colour)} `,
    typeof entry['msg'] === 'string' ? entry['msg'] : '',
    ...fields,
    renderError(entry['err'] ?? entry['error'], WITH_STACK.has(level)),
  ].join('')
}

/** Wraps text in a colour of the terminal. */
export function paint(text: string, code: number, colour: boolean): string {
  return colour && code > 0 ? `\u001B[${code}m${text}\u001B[0m` : text
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const entry = JSON.parse(line) as Record<string, unknown>
    return 'level' in entry && 'time' in entry ? entry : undefined
  } catch {
    return undefined
  }
}

function renderTime(time: unknown): string {
  const at = new Date(typeof time === 'number' ? time : String(time))
  if (Number.isNaN(at.getTime())) return String(time)
  const milliseconds = String(at.getMilliseconds()).padStart(3, '0')
  return `${at.toTimeString().slice(0, 8)}.${milliseconds}`
}

function renderValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const short = text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text
  return typeof value === 'string' && /[\s"=]/.test(short) ? JSON.stringify(short) : short
}

function renderError(error: unknown, withStack: boolean): string {
  if (error === undefined || error === null) return ''
  if (typeof error !== 'object') return ` error=${renderValue(error)}`
  const { type, name = 'Error', message = '', stack = '' } = error as LoggedError
  const frames = withStack ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : []
  return [` ${type ?? name}: ${message}`, ...frames.slice(0, 8)].join('\n')
}
