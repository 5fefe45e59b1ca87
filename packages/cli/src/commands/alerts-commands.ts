import type { Command } from 'commander'
import { z } from 'zod'
import { addPaging, type PagingOptions, parseAnswer, showList } from '../http/list.ts'
import { instant, label, oneOf } from '../options/values.ts'
import { followRun } from '../runs/follow.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import type { Column } from '../show/table.ts'
import { addSettingCommands } from './setting-commands.ts'

const Alert = z.looseObject({
  id: z.string(),
  rule: z.string(),
  kind: z.string(),
  state: z.string(),
  summary: z.string(),
  count: z.number(),
  since: z.string(),
  silencedUntil: z.string().nullish(),
  closedAt: z.string().nullish(),
})
type Alert = z.infer<typeof Alert>

interface ListOptions extends PagingOptions {
  state?: string
  rule?: string
}

/** `jadwal alerts`: what is wrong, who is told, and what is silenced. */
export function addAlertsCommands(shell: Shell, program: Command): void {
  const alerts = subcommand(program, 'alerts', 'Show alerts; set rules, channels and silences')
  const list = subcommand(alerts, 'list', 'List what is wrong, or was lately')
    .option('--state <state>', 'open or closed', oneOf('open', 'closed'))
    .option('--rule <name>')
  apiCommand<ListOptions>(shell, addPaging(list), async (session, { options }) => {
    const { times } = session.output
    const columns: Column<Alert>[] = [
      {
        title: 'state',
        of: ({ state }) => state,
        color: ({ state }) => (state === 'open' ? 'red' : 'dim'),
      },
      { title: 'rule', of: ({ rule }) => rule },
      { title: 'kind', of: ({ kind }) => kind },
      { title: 'count', of: ({ count }) => count, align: 'right' },
      { title: 'since', of: ({ since }) => times.at(since) },
      { title: 'closed', of: ({ closedAt }) => times.at(closedAt) },
      { title: 'silent until', of: ({ silencedUntil }) => times.at(silencedUntil) },
      { title: 'what', of: ({ summary }) => summary },
    ]
    const query = { state: options.state, rule: options.rule }
    const empty = 'No alerts.'
    await showList(session, { path: '/alerts', query, item: Alert, columns, empty }, options)
  })
  addSilenceCommand(shell, alerts)
  addTestCommand(shell, alerts)
  for (const { name, ...kind } of KINDS) {
    const parent = subcommand(alerts, name, `Look at the ${kind.words} and change them`)
    addSettingCommands(shell, parent, { path: `/alerts/${name}`, ...kind })
  }
}

const KINDS = [
  {
    name: 'rules',
    word: 'rule',
    words: 'alert rules',
    fields: ['kind', 'enabled', 'for', 'channels'],
  },
  {
    name: 'channels',
    word: 'channel',
    words: 'alert channels',
    fields: ['kind', 'default', 'enabled'],
  },
  {
    name: 'silences',
    word: 'silence',
    words: 'alert silences',
    fields: ['from', 'until', 'matchers', 'reason'],
  },
] as const

interface SilenceOptions {
  until: string
  from?: string
  rule?: string
  job?: string
  queue?: string
  schedule?: string
  label?: string[]
  reason?: string
}

function addSilenceCommand(shell: Shell, alerts: Command): void {
  const future = instant(shell.terminal.clock, 'future')
  const silence = subcommand(alerts, 'silence', 'Send nothing of some alerts for a while')
    .argument('<name>', 'of the silence; "jadwal alerts silences delete" ends it early')
    .requiredOption('--until <instant>', 'its end: 2h (from now), "2026-12-24 08:00"', future)
    .option('--from <instant>', 'its beginning (default: now)', future)
    .option('--rule <name>', 'only alerts of this rule')
    .option('--job <name>', 'about this job')
    .option('--queue <name>', 'about this queue')
    .option('--schedule <name>', 'about this schedule')
    .option('--label <name:value>', 'about what has this label; again for more', label)
    .option('--reason <text>')
  apiCommand<SilenceOptions>(
    shell,
    silence,
    async ({ api, output }, { args: [name = ''], options }) => {
      const { until, from = future('now'), rule, job, queue, schedule, reason } = options
      const labels = options.label && Object.fromEntries(options.label.map(splitLabel))
      const body = { matchers: { rule, job, queue, schedule, labels }, from, until, reason }
      const at = `/alerts/silences/${encodeURIComponent(name)}`
      const answer = await api.send(at, { method: 'PUT', body })
      output.either(answer.body, () =>
        output.line(`${name} holds until ${output.times.full(until)}`),
      )
    },
  ).addHelpText(
    'after',
    '\nExample: jadwal alerts silence migration --queue emails --until 2h --reason "Postgres is moved"',
  )
}

function splitLabel(text: string): [string, string] {
  const at = text.indexOf(':')
  return [text.slice(0, at), text.slice(at + 1)]
}

const Begun = z.looseObject({ id: z.string() })

function addTestCommand(shell: Shell, alerts: Command): void {
  const testing = subcommand(alerts, 'test', 'Send a test message to a channel (admins)')
    .argument('<channel>')
    .option('--wait', 'until it has arrived; 1 when it did not', false)
  apiCommand<{ wait: boolean }>(shell, testing, async (session, { args: [name = ''], options }) => {
    const answer = await session.api.post(`/alerts/channels/${encodeURIComponent(name)}/test`)
    const { id } = parseAnswer(Begun, answer)
    if (options.wait) return await followRun(session, id, undefined)
    session.output.either(answer, () => session.output.line(id))
    return 0
  })
}
