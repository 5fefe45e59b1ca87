import type { Crontab, CrontabEntry, CrontabRefusal } from './read-crontab.ts'
import { scheduleName } from './schedule-name.ts'
import { UniqueNames } from './unique-names.ts'
import { scheduleProblem, type TakenSchedule } from './taken-schedule.ts'

/** What cron does, where a schedule would do otherwise by itself. */
export const CRON_DEFAULTS = {
  // Cron starts a command though the last one is still at work, and never tries one again.
  overlap: 'allow',
  attempts: 1,
  // Cron lets a command run for ever; a day is nearly that.
  timeoutMs: 86_400_000,
}

/** An entry as a schedule of the schedule file. */
export interface TakenEntry extends TakenSchedule {
  entry: CrontabEntry
}

/** Makes a schedule of each entry; what the schedule file would not take joins the refusals. */
export function takeOver(crontab: Crontab): { taken: TakenEntry[]; refused: CrontabRefusal[] } {
  const names = new UniqueNames()
  const taken: TakenEntry[] = []
  const refused = [...crontab.refused]
  for (const entry of crontab.entries) {
    const name = scheduleName(entry.command, names)
    const fields = scheduleFields(entry)
    const why = scheduleProblem({ name, fields }, CRON_DEFAULTS)
    if (why !== undefined) {
      refused.push({ line: entry.line, text: entry.text, why })
      continue
    }
    names.take(name)
    taken.push({ name, entry, fields })
  }
  return { taken, refused: refused.toSorted((a, b) => a.line - b.line) }
}

function scheduleFields(entry: CrontabEntry): Record<string, unknown> {
  const { description, cron, timezone, user, alert } = entry
  return {
    ...(description === undefined ? {} : { description }),
    job: 'shell.exec',
    cron,
    timezone,
    payload: payload(entry),
    ...(user === undefined ? {} : { labels: { user } }),
    ...(alert === undefined ? {} : { alert }),
  }
}

/** Cron runs a command in HOME. */
function payload({ command, shell, env, stdin }: CrontabEntry): Record<string, unknown> {
  return {
    command,
    shell,
    ...(env['HOME'] === undefined ? {} : { cwd: env['HOME'] }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(stdin === undefined ? {} : { stdin }),
  }
}
