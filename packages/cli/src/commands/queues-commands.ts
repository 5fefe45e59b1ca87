import type { Command } from 'commander'
import { z } from 'zod'
import { parseAnswer, showWholeList } from '../http/list.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import { roughly } from '../show/times.ts'
import type { Column } from '../show/table.ts'

const QueueAnswer = z.looseObject({
  name: z.string(),
  counts: z.record(z.string(), z.number()),
  deadLetters: z.number(),
  paused: z.boolean(),
  oldestWaitingSeconds: z.number().nullish(),
  outboxDepth: z.number().nullish(),
})
type QueueAnswer = z.infer<typeof QueueAnswer>

const COLUMNS: Column<QueueAnswer>[] = [
  { title: 'queue', of: ({ name }) => name, isWhole: true },
  {
    title: 'state',
    of: ({ paused }) => (paused ? 'paused' : 'open'),
    color: ({ paused }) => (paused ? 'yellow' : undefined),
  },
  {
    title: 'waiting',
    of: ({ counts }) => (counts['waiting'] ?? 0) + (counts['prioritized'] ?? 0),
    align: 'right',
  },
  { title: 'delayed', of: ({ counts }) => counts['delayed'] ?? 0, align: 'right' },
  { title: 'running', of: ({ counts }) => counts['active'] ?? 0, align: 'right' },
  {
    title: 'dead',
    of: ({ deadLetters }) => deadLetters,
    align: 'right',
    color: ({ deadLetters }) => (deadLetters > 0 ? 'red' : undefined),
  },
  {
    title: 'oldest waits',
    of: ({ oldestWaitingSeconds: s }) => (s == null ? '' : roughly(s * 1_000)),
    align: 'right',
  },
  { title: 'outbox', of: ({ outboxDepth }) => outboxDepth, align: 'right' },
]

const State = z.looseObject({ name: z.string().optional(), paused: z.boolean().optional() })

/** `jadwal queues`: what lies in the queues; a pause of one keeps its runs from being started. */
export function addQueuesCommands(shell: Shell, program: Command): void {
  const queues = subcommand(program, 'queues', 'List queues, pause and resume them')
  const empty = 'There are no queues yet.'
  apiCommand(
    shell,
    subcommand(queues, 'list', 'List the queues, and what lies in them'),
    (session) =>
      showWholeList(session, { path: '/queues', item: QueueAnswer, columns: COLUMNS, empty }),
  )
  for (const act of ['pause', 'resume'] as const) {
    const description =
      act === 'pause'
        ? 'Start no more runs of these queues; those that run go on'
        : 'Start runs of these queues again'
    const command = subcommand(queues, act, description).argument('<queue...>')
    if (act === 'pause') command.option('--reason <text>', 'kept with the pause')
    apiCommand<{ reason?: string }>(shell, command, async ({ api, output }, { args, options }) => {
      const body = act === 'pause' ? { reason: options.reason } : {}
      for (const queue of args) {
        const answer = await api.post(`/queues/${encodeURIComponent(queue)}/${act}`, body)
        const { paused = act === 'pause' } = parseAnswer(State, answer)
        if (output.isJson) output.jsonLine(answer)
        else output.line(`${queue} is ${paused ? 'paused' : 'open'}`)
      }
    })
  }
}
