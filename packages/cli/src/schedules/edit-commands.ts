import type { Command } from 'commander'
import { CommandError, ProblemError } from '../http/api-errors.ts'
import { parseAnswer } from '../http/list.ts'
import { readTextFile, readYamlText } from '../options/yaml-text.ts'
import { apiCommand, type Session, type Shell, subcommand } from '../session.ts'
import { ScheduleAnswer } from './schedule-answer.ts'

/** What an answer says of a schedule beside what its author wrote. */
const NOT_WRITTEN =
  'id name version source author createdAt changedAt pause nextTick warnings'.split(' ')

interface SetOptions {
  reason?: string
}

/** `jadwal schedules set` and `edit`: one schedule that no file has made. */
export function addEditCommands(shell: Shell, schedules: Command): void {
  const set = subcommand(schedules, 'set', 'Create or replace a schedule')
    .argument('<schedule>')
    .argument(
      '<file>',
      'its fields as YAML or JSON, as a schedule file has them; - reads standard input',
    )
    .option('--reason <text>', 'kept with the version')
  apiCommand<SetOptions>(shell, set, async (session, { args: [name = '', file = ''], options }) => {
    const text = await readTextFile(session.terminal, file)
    await put(session, name, { fields: await readYamlText(file, text), reason: options.reason })
  }).addHelpText(
    'after',
    `
Example: echo '{"job":"report.generate","cron":"0 6 * * *"}' | jadwal schedules set daily-report -`,
  )

  const edit = subcommand(schedules, 'edit', 'Change a schedule in $VISUAL or $EDITOR')
    .argument('<schedule>')
    .option('--reason <text>', 'kept with the version')
  apiCommand<SetOptions>(shell, edit, async (session, { args: [name = ''], options }) => {
    const { api, output, terminal } = session
    const { body, headers } = await api.send(`/schedules/${encodeURIComponent(name)}`)
    parseAnswer(ScheduleAnswer, body)
    const { stringify } = await import('yaml')
    const before = stringify(writtenOf(body as Record<string, unknown>))
    const after = await terminal.edit(`${name}.yaml`, before)
    if (after === undefined)
      throw new CommandError('there is no terminal to edit in: use "jadwal schedules set".')
    if (after.trim() === before.trim()) return output.note('Nothing was changed.')
    const etag = headers.get('etag') ?? undefined
    await put(session, name, {
      fields: await readYamlText(name, after),
      reason: options.reason,
      etag,
    }).catch((error: unknown) => {
      // What somebody wrote must not be lost with the refusal.
      if (error instanceof ProblemError) output.note(`What you wrote:\n${after}`)
      throw error
    })
    return undefined
  })
}

async function put(
  { api, output }: Session,
  name: string,
  {
    fields,
    reason,
    etag,
  }: { fields: unknown; reason?: string | undefined; etag?: string | undefined },
): Promise<void> {
  const answer = await api.send(`/schedules/${encodeURIComponent(name)}`, {
    method: 'PUT',
    query: { reason },
    body: fields,
    headers: etag === undefined ? {} : { 'if-match': etag },
  })
  const { version, nextTick, warnings } = parseAnswer(ScheduleAnswer, answer.body)
  output.either(answer.body, () =>
    output.line(
      `${name} is ${answer.status === 201 ? 'created' : `version ${version}`}; next tick: ${output.times.full(nextTick) || 'none'}`,
    ),
  )
  for (const { message } of warnings ?? []) output.note(`${name}: ${message}`)
}

function writtenOf(answer: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(answer).filter(([key, value]) => !NOT_WRITTEN.includes(key) && value !== null),
  )
}
