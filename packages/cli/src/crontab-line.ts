/** One line of a crontab, taken apart as Vixie cron does. */
export type CrontabLine =
  | { kind: 'blank' }
  | { kind: 'comment'; text: string }
  | { kind: 'setting'; name: string; value: string }
  | { kind: 'entry'; when: string; rest: string; quiet: boolean }
  | { kind: 'wrong'; why: string }

const SETTING = /^(?:"([^"]*)"|'([^']*)'|([A-Za-z_]\w*))\s*=\s*(.*)$/
const FIELDS = 5

/** Takes a line apart. `rest` of an entry is what stands behind the time: command, or user and command. */
export function readCrontabLine(written: string): CrontabLine {
  const line = written.trim()
  if (line === '') return { kind: 'blank' }
  if (line.startsWith('#')) return { kind: 'comment', text: line.replace(/^[#\s]+/, '') }
  if (line.includes('\u0000')) return { kind: 'wrong', why: 'it holds a NUL character' }
  const setting = SETTING.exec(line)
  if (setting) {
    const name = setting[1] ?? setting[2] ?? setting[3] ?? ''
    return { kind: 'setting', name, value: unquoted(setting[4] ?? '') }
  }
  // Some crons take a leading "-" for "do not log this".
  const quiet = /^-[\d*@]/.test(line)
  return readEntry(quiet ? line.slice(1) : line, quiet)
}

function readEntry(line: string, quiet: boolean): CrontabLine {
  const words = line.split(/\s+/)
  const count = line.startsWith('@') ? 1 : FIELDS
  const times = words.slice(0, count)
  const stranger = times.findIndex((word) => !/^[\w*?@#~(][\w*?@,/#~()-]*$/.test(word))
  if (stranger !== -1) return { kind: 'wrong', why: tooFew(stranger, words[stranger]) }
  if (times.length < count) return { kind: 'wrong', why: tooFew(times.length) }
  const rest = line.replace(new RegExp(`^(?:\\S+\\s*){${count}}`), '')
  return { kind: 'entry', when: times.join(' '), rest, quiet }
}

function tooFew(count: number, stranger?: string): string {
  const has = `it has ${count} time field${count === 1 ? '' : 's'}`
  const before = stranger === undefined ? '' : ` before "${stranger}"`
  return `${has}${before}; 5 are needed: minute, hour, day of month, month, day of week`
}

function unquoted(value: string): string {
  const quoted = /^(["'])(.*)\1$/.exec(value.trim())
  return quoted?.[2] ?? value.trim()
}

/**
 * Parts a command at its first unescaped `%`: what follows is standard input, with each further one a
 * new line, and a last new line as cron adds it. `\%` is a plain `%`.
 */
export function splitStdin(text: string): { command: string; stdin?: string } {
  const [command = '', ...lines] = text.split(/(?<!\\)%/).map((part) => part.replaceAll('\\%', '%'))
  if (lines.length === 0) return { command: command.trim() }
  const stdin = lines.join('\n')
  return { command: command.trim(), stdin: stdin.endsWith('\n') ? stdin : `${stdin}\n` }
}
