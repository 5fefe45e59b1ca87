import type { TakenEntry } from './crontab-schedules.ts'
import type { ImportReport, Remark } from './import-report.ts'
import type { CrontabRefusal } from './read-crontab.ts'

export interface TakenCrontab {
  /** The file's name. */
  name: string
  taken: readonly TakenEntry[]
  refused: readonly CrontabRefusal[]
  /** The host's zone, unless --timezone was given. */
  hostTimezone?: string
}

/** What was taken over, what was not and why, and what differs from cron. */
export function crontabReport(crontab: TakenCrontab): ImportReport {
  const { name: source, taken, refused } = crontab
  return {
    title: source,
    noun: 'line',
    refused: refused.map(({ line, text, why }) => ({ source, line, text, why })),
    toDo: [],
    taken: taken.map(({ name: schedule, entry }) => ({ source, line: entry.line, schedule })),
    notes: taken.length === 0 ? [] : notes(crontab),
  }
}

function notes({ name, taken, hostTimezone }: TakenCrontab): (string | Remark)[] {
  const entries = taken.map(({ entry }) => entry)
  const users = distinct(entries.map(({ user }) => user))
  const alerts = distinct(entries.map(({ alert }) => alert))
  const shells = distinct(entries.map(({ shell }) => shell))
  const asRoot = entries.every(({ command, user }) => user === undefined && /^root\s/.test(command))
  return [
    asRoot &&
      'Every command begins with "root": this looks like a system crontab. Run again with --system.',
    `Workers run these commands only when their allow-list names the shell: JADWAL_EXEC_ALLOW=${shells.join(',')}`,
    users.length > 0 &&
      `Commands run as the worker's user. The users of the file (${users.join(', ')}) are kept as the label "user".`,
    users.length === 0 && "Commands run as the worker's user, not as the owner of the crontab.",
    'Commands run on whichever worker is free, in "/" unless the file sets HOME, with no environment but the worker\'s and the file\'s.',
    alerts.length > 0 &&
      `MAILTO became the alert address (${alerts.join('; ')}). Output is not mailed: it is kept with each run.`,
    hostTimezone !== undefined &&
      entries.some(({ zoneAssumed }) => zoneAssumed) &&
      `No CRON_TZ and no --timezone: times are read in the zone of this host, ${hostTimezone}.`,
    'As under cron, runs may overlap, none is tried again, and one may take long (24 h): see "defaults".',
    'Unlike under cron, ticks missed in an outage are made up for by one run: "misfire: { policy: skip }" drops them.',
    ...entries.flatMap((entry) =>
      lineNotes(entry).map((remark) => ({ source: name, line: entry.line, remark })),
    ),
  ].filter((note) => note !== false)
}

function lineNotes({ command, stdin, quiet }: TakenEntry['entry']): string[] {
  return [
    stdin !== undefined &&
      hasOpenQuote(command) &&
      `the first "%" stands inside quotes and ends the command there, as under cron: ${command}`,
    quiet && 'the leading "-" (keep it out of the log) has no counterpart and was left away',
  ].filter((note) => note !== false)
}

function hasOpenQuote(command: string): boolean {
  return command.replaceAll(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/g, '').search(/["']/) !== -1
}

function distinct(values: readonly (string | undefined)[]): string[] {
  return [...new Set(values.filter((value) => value !== undefined))]
}
