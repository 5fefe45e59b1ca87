import type { Command } from 'commander'
import { z } from 'zod'
import { parseAnswer } from '../http/list.ts'
import { readTextFile, readYamlText } from '../options/yaml-text.ts'
import { apiCommand, type Session, type Shell, subcommand } from '../session.ts'
import { showDiff, SpecDiff } from './show-diff.ts'

/** What the api takes as YAML; a larger file goes as JSON. */
const LARGEST_YAML_BYTES = 1024 * 1024

interface FileOptions {
  prune?: boolean
  reason?: string
}

const Tick = z.looseObject({ tickAt: z.string(), skipped: z.string().nullish() })

const Planned = z.looseObject({
  name: z.string(),
  diff: SpecDiff.nullish(),
  before: z.array(Tick).nullish(),
  after: z.array(Tick).nullish(),
})
type Planned = z.infer<typeof Planned>

const Counted = z.union([z.number(), z.array(z.unknown())])

const Warnings = z.array(z.looseObject({ schedule: z.string(), message: z.string() })).nullish()

const Plan = z.looseObject({
  added: z.array(Planned),
  changed: z.array(Planned),
  removed: z.array(Planned),
  unchanged: Counted,
  foreign: z.array(z.string()),
  warnings: Warnings,
})

const Applied = z.looseObject({
  added: Counted,
  changed: Counted,
  removed: Counted,
  unchanged: Counted,
  foreign: z.array(z.string()),
  warnings: Warnings,
})

/** `jadwal schedules plan` and `apply`: what a schedule file would change, and changing it. */
export function addFileCommands(shell: Shell, schedules: Command): void {
  const plan = fileCommand(
    schedules,
    'plan',
    'Show what a schedule file would change, changing nothing',
  )
  apiCommand<FileOptions>(shell, plan, async (session, { args: [file = ''], options }) => {
    const answer = await sendFile(session, file, {
      path: '/schedules/plan',
      query: { prune: options.prune },
    })
    session.output.either(answer, () => showPlan(session, parseAnswer(Plan, answer)))
  }).addHelpText('after', '\nExample: jadwal schedules plan schedules.yaml --prune')

  const apply = fileCommand(
    schedules,
    'apply',
    'Make the schedules what a file says; all of it or nothing',
  ).option('--reason <text>', 'kept with the versions')
  apiCommand<FileOptions>(shell, apply, async (session, { args: [file = ''], options }) => {
    const { prune, reason } = options
    const answer = await sendFile(session, file, {
      path: '/schedules/apply',
      query: { prune, reason },
    })
    session.output.either(answer, () => {
      const { added, changed, removed, unchanged, foreign, warnings } = parseAnswer(Applied, answer)
      session.output.line(
        `${count(added)} added, ${count(changed)} changed, ${count(removed)} removed, ${count(unchanged)} unchanged`,
      )
      tellForeign(session, foreign)
      tellWarnings(session, warnings)
    })
  }).addHelpText('after', '\nExample: jadwal schedules apply schedules.yaml --reason "quarter end"')
}

function fileCommand(schedules: Command, name: string, description: string): Command {
  return subcommand(schedules, name, description)
    .argument('<file>', 'YAML or JSON; - reads standard input')
    .option('--prune', 'also delete schedules of files that this one does not name')
    .option('--no-prune', 'do not, whatever the file says')
}

async function sendFile(
  { api, terminal }: Session,
  file: string,
  { path, query }: { path: string; query: Record<string, string | boolean | undefined> },
): Promise<unknown> {
  const text = await readTextFile(terminal, file)
  const small = Buffer.byteLength(text) <= LARGEST_YAML_BYTES
  const sent = small
    ? { text, headers: { 'content-type': 'application/yaml' } }
    : { body: await readYamlText(file, text) }
  return (await api.send(path, { method: 'POST', query, ...sent })).body
}

function showPlan(session: Session, plan: z.infer<typeof Plan>): void {
  const { output } = session
  const { added, changed, removed, unchanged, foreign, warnings } = plan
  for (const { name, after } of added) {
    output.raw(output.paint('green', `+ ${name}`))
    ticks(session, 'next', after)
  }
  for (const { name, diff, before, after } of changed) {
    output.raw(output.paint('yellow', `~ ${name}`))
    if (diff != null) showDiff(output, diff)
    if (JSON.stringify(before) !== JSON.stringify(after)) ticks(session, 'next', after)
  }
  for (const { name } of removed) output.raw(output.paint('red', `- ${name}`))
  output.line(
    `${added.length} to add, ${changed.length} to change, ${removed.length} to remove, ${count(unchanged)} unchanged`,
  )
  tellForeign(session, foreign)
  tellWarnings(session, warnings)
}

function ticks({ output }: Session, title: string, next: Planned['after']): void {
  const shown = (next ?? []).slice(0, 3)
  if (shown.length === 0) return
  const texts = shown.map(
    ({ tickAt, skipped }) => `${output.times.at(tickAt)}${skipped == null ? '' : ` (${skipped})`}`,
  )
  output.raw(`    ${title}: ${texts.join(', ')}`)
}

function tellForeign({ output }: Session, foreign: readonly string[]): void {
  if (foreign.length > 0)
    output.note(`Left alone, as they were made by the api and not by a file: ${foreign.join(', ')}`)
}

function tellWarnings(
  { output }: Pick<Session, 'output'>,
  warnings: z.infer<typeof Warnings>,
): void {
  for (const { schedule, message } of warnings ?? []) output.note(`${schedule}: ${message}`)
}

function count(counted: number | readonly unknown[]): number {
  return typeof counted === 'number' ? counted : counted.length
}
