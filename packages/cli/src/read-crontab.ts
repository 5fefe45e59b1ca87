import { cronProblem, isTimezone } from '@jadwal/domain'
import { type CrontabLine, readCrontabLine, splitStdin } from './crontab-line.ts'

export interface CrontabOptions {
  /** A user column stands before the command. */
  system: boolean
  /** The zone of lines above any CRON_TZ. */
  timezone: string
}

/** Where something stands: the line's number, from 1, and its text. */
interface Place {
  line: number
  text: string
}

/** A line that a schedule can be made of, with the settings that hold where it stands. */
export interface CrontabEntry extends Place {
  cron: string
  timezone: string
  /** The zone stands in no line of the file. */
  zoneAssumed: boolean
  command: string
  stdin?: string
  shell: string
  env: Record<string, string>
  alert?: string
  user?: string
  description?: string
  quiet: boolean
}

export interface CrontabRefusal extends Place {
  why: string
}

export interface Crontab {
  entries: CrontabEntry[]
  refused: CrontabRefusal[]
}

/** What the settings above a line make of it. */
interface Settings {
  shell: string
  timezone: string
  zoneAssumed: boolean
  /** A CRON_TZ that is no zone: lines below it can't be placed in time. */
  wrongZone: string | undefined
  alert: string | undefined
  env: Record<string, string>
}

const DEFAULT_SHELL = '/bin/sh'

/** Reads a crontab whole: each line becomes an entry, a setting for those below it, or a refusal. */
export function readCrontab(text: string, options: CrontabOptions): Crontab {
  const crontab: Crontab = { entries: [], refused: [] }
  let settings: Settings = {
    shell: DEFAULT_SHELL,
    timezone: options.timezone,
    zoneAssumed: true,
    wrongZone: undefined,
    alert: undefined,
    env: {},
  }
  let comments: string[] = []
  for (const [index, written] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const place = { line: index + 1, text: written.trim() }
    const line = readCrontabLine(written)
    if (line.kind === 'comment') {
      comments.push(line.text)
      continue
    }
    if (line.kind === 'wrong') crontab.refused.push({ ...place, why: line.why })
    if (line.kind === 'setting') {
      settings = withSetting(settings, line, options)
      if (line.name === 'CRON_TZ' && settings.wrongZone !== undefined)
        crontab.refused.push({ ...place, why: `"${line.value}" is no IANA time zone` })
    }
    if (line.kind === 'entry') {
      const found = readEntry(line, settings, { ...options, comments })
      if ('why' in found) crontab.refused.push({ ...place, ...found })
      else crontab.entries.push({ ...place, ...found })
    }
    comments = []
  }
  return crontab
}

function withSetting(
  settings: Settings,
  { name, value }: { name: string; value: string },
  options: CrontabOptions,
): Settings {
  switch (name) {
    case 'MAILTO':
      return { ...settings, alert: value === '' ? undefined : value }
    case 'SHELL':
      return { ...settings, shell: value || DEFAULT_SHELL }
    case 'CRON_TZ': {
      const zone = value === '' ? options.timezone : value
      const wrongZone = isTimezone(zone) ? undefined : zone
      return { ...settings, timezone: zone, zoneAssumed: value === '', wrongZone }
    }
    default:
      return { ...settings, env: { ...settings.env, [name]: value } }
  }
}

type Line = Extract<CrontabLine, { kind: 'entry' }>

function readEntry(
  { when, rest, quiet }: Line,
  settings: Settings,
  { system, comments }: CrontabOptions & { comments: string[] },
): Omit<CrontabEntry, keyof Place> | { why: string } {
  const problem = whenProblem(when)
  if (problem !== undefined) return { why: problem }
  if (settings.wrongZone !== undefined)
    return { why: `the CRON_TZ above it, "${settings.wrongZone}", is no IANA time zone` }
  if (rest === '') return { why: 'it names no command behind its time' }
  const { user, text } = system ? splitUser(rest) : { user: undefined, text: rest }
  if (user !== undefined && !USER.test(user))
    return {
      why: `"${user}" is no user name: with --system a user stands before the command; leave --system away for a user's own crontab`,
    }
  const { command, stdin } = splitStdin(text)
  if (command === '')
    return { why: `it names no command behind its time${system ? ' and user' : ''}` }
  const { shell, timezone, zoneAssumed, alert, env } = settings
  const description = describe(comments)
  return {
    cron: when,
    timezone,
    zoneAssumed,
    command,
    shell,
    env,
    quiet,
    ...(stdin === undefined ? {} : { stdin }),
    ...(alert === undefined ? {} : { alert }),
    ...(user === undefined ? {} : { user }),
    ...(description === '' ? {} : { description }),
  }
}

const USER = /^[A-Za-z_][\w.@-]*\$?$/

function splitUser(rest: string): { user: string; text: string } {
  const [, user = '', text = ''] = /^(\S*)\s*([^]*)$/.exec(rest) ?? []
  // FreeBSD writes user:group, and a login class behind a slash.
  return { user: user.replace(/[:/].*$/, (more) => (user.startsWith('/') ? more : '')), text }
}

function whenProblem(when: string): string | undefined {
  if (when === '@reboot')
    return '@reboot means the start of a machine, which is no point in time: let the machine start it, for example by a systemd unit'
  return cronProblem(when)
}

/** The comments right above a line, but for headings of the columns and lines that are commented out. */
function describe(comments: readonly string[]): string {
  const told = comments.filter((text) => !/^m(in(ute)?)?\s+h(our)?\s/i.test(text) && !isEntry(text))
  return told.join(' ').replaceAll(/\s+/g, ' ').trim().slice(0, 1_000)
}

function isEntry(text: string): boolean {
  const line = readCrontabLine(text)
  return line.kind === 'entry' && line.rest !== '' && whenProblem(line.when) === undefined
}
