import { setTimeout as wait } from 'node:timers/promises'
import type { Command } from 'commander'
import { z } from 'zod'
import { addPaging, type PagingOptions, parseAnswer, showList } from '../http/list.ts'
import { confirm } from '../options/confirm.ts'
import { rate } from '../options/values.ts'
import { apiCommand, type Session, type Shell, subcommand } from '../session.ts'
import { stateColor } from '../show/colors.ts'
import { ProgressBar } from '../show/progress.ts'
import type { Column } from '../show/table.ts'
import { FAILED } from '../show/tell-error.ts'
import { addLetterFilter, type LetterFilter, whichOf, whichText } from './letter-options.ts'
import { tellSettlings } from './settlings.ts'

const LOOK_EACH_MS = 1_000

const Begun = z.looseObject({ id: z.string(), letters: z.number().nullable() })

const Redrive = z.looseObject({
  id: z.string(),
  state: z.string(),
  filter: z.record(z.string(), z.unknown()),
  canary: z.boolean(),
  step: z.number().nullish(),
  rate: z.number().nullish(),
  letters: z.number().nullable(),
  redriven: z.number().nullish(),
  refused: z.number(),
  runs: z.record(z.string(), z.number()).nullish(),
  problem: z.string().nullish(),
  returned: z.looseObject({ run: z.string(), fingerprint: z.string().nullish() }).nullish(),
  author: z.string(),
  createdAt: z.string(),
  finishedAt: z.string().nullish(),
})
type Redrive = z.infer<typeof Redrive>

interface RedriveOptions extends LetterFilter {
  all: boolean
  canary: boolean
  rate?: number
  wait: boolean
  yes: boolean
}

/** `jadwal dead redrive`: makes new runs of dead letters; of many the leader does. */
export function addRedriveCommand(shell: Shell, dead: Command): void {
  const redrive = subcommand(dead, 'redrive', 'Make new runs of dead letters')
    .argument('[id...]')
    .option('--all', 'every dead letter', false)
    .option('--canary', 'one, then ten, then the rest; stops when one dies of the same', false)
    .option('--rate <number>', 'runs a second', rate)
    .option('--wait', 'until all letters are redriven', false)
    .option('--yes', 'without being asked', false)
  apiCommand<RedriveOptions>(
    shell,
    addLetterFilter(shell, redrive),
    async (session, { args, options }) => {
      const { api, output, terminal } = session
      const which = whichOf('redrive', args, options)
      if (!('ids' in which))
        await confirm(terminal, `This makes new runs of ${whichText(which)}.`, options)
      const body = { ...which, canary: options.canary, rate: options.rate }
      const answer = await api.post('/dead-letters/redrive', body)
      const begun = Begun.safeParse(answer)
      if (!begun.success) return tellSettlings(session, answer)
      const { id, letters } = begun.data
      if (options.wait) return await followRedrive(session, id)
      output.either(answer, () => output.line(id))
      output.note(`${letters ?? 'Many'} letters; "jadwal redrives show ${id}" tells how far it is`)
      return 0
    },
  ).addHelpText(
    'after',
    `
Examples:
  jadwal dead redrive 019a2b3c-0000-7000-8000-000000000001
  jadwal dead redrive --fingerprint 0123456789abcdef --canary --wait --yes`,
  )
}

/** `jadwal redrives`: watch those that go on, pause and cancel them. */
export function addRedrivesCommands(shell: Shell, program: Command): void {
  const redrives = subcommand(program, 'redrives', 'Watch redrives, pause and cancel them')
  const list = addPaging(subcommand(redrives, 'list', 'List redrives, newest first'))
  apiCommand<PagingOptions>(shell, list, async (session, { options }) => {
    const { times } = session.output
    const columns: Column<Redrive>[] = [
      { title: 'id', of: ({ id }) => id, isWhole: true },
      { title: 'state', of: ({ state }) => state, color: ({ state }) => stateColor(state) },
      { title: 'letters', of: ({ letters }) => letters ?? 'many', align: 'right' },
      { title: 'refused', of: ({ refused }) => refused, align: 'right' },
      { title: 'by', of: ({ author }) => author },
      { title: 'created', of: ({ createdAt }) => times.at(createdAt) },
      { title: 'filter', of: ({ filter }) => JSON.stringify(filter) },
    ]
    const empty = 'No redrives.'
    await showList(session, { path: '/redrives', item: Redrive, columns, empty }, options)
  })
  const show = subcommand(redrives, 'show', 'Show how far a redrive is').argument('<id>')
  apiCommand(shell, show, async ({ api, output }, { args: [id = ''] }) => {
    const answer = await api.get(`/redrives/${encodeURIComponent(id)}`)
    output.either(answer, () => showRedrive({ output }, parseAnswer(Redrive, answer)))
  })
  for (const act of ['pause', 'resume', 'cancel'] as const) {
    const command = subcommand(redrives, act, ACTS[act]).argument('<id>')
    apiCommand(shell, command, async ({ api, output }, { args: [id = ''] }) => {
      const answer = await api.post(`/redrives/${encodeURIComponent(id)}/${act}`)
      const { state } = parseAnswer(Redrive, answer)
      output.either(answer, () => output.line(`${id} is ${state}`))
    })
  }
  const waiting = subcommand(redrives, 'wait', 'Wait until a redrive has ended').argument('<id>')
  apiCommand(shell, waiting, (session, { args: [id = ''] }) => followRedrive(session, id))
}

const ACTS = {
  pause: 'Redrive no more letters for now',
  resume: 'Go on with it',
  cancel: 'End it; new runs that were made stay',
} as const

function showRedrive({ output }: Pick<Session, 'output'>, redrive: Redrive): void {
  const { id, state, filter, canary, step, letters, redriven, refused, runs } = redrive
  const { returned, author, createdAt, finishedAt, problem } = redrive
  const { times } = output
  output.fields({
    id,
    state,
    letters: letters ?? 'many',
    redriven,
    refused,
    'its runs': runsText(runs),
    canary: canary ? `step ${step ?? 0}` : '',
    rate: redrive.rate == null ? '' : `${redrive.rate} a second`,
    filter: JSON.stringify(filter),
    stopped: returned == null ? '' : `run ${returned.run} died of the same`,
    problem,
    by: author,
    created: times.full(createdAt),
    finished: times.full(finishedAt),
  })
}

/** Shows how far it is until it has ended. Gives 1 when it did not redrive all. */
async function followRedrive(session: Session, id: string): Promise<number> {
  const { api, output, terminal } = session
  const bar = new ProgressBar(terminal, 'letters redriven')
  for (;;) {
    const answer = await api.get(`/redrives/${encodeURIComponent(id)}`)
    const redrive = parseAnswer(Redrive, answer)
    const { state, letters, redriven, refused } = redrive
    if (state !== 'running' && state !== 'paused') {
      bar.clear()
      output.either(answer, () => showRedrive({ output }, redrive))
      return state === 'done' && refused === 0 ? 0 : FAILED
    }
    const more = [state === 'paused' ? 'paused' : '', runsText(redrive.runs)]
    bar.show({ done: redriven ?? 0, total: letters, more: more.filter(Boolean).join(', ') })
    await wait(LOOK_EACH_MS, undefined, { signal: terminal.stop }).catch((error: unknown) => {
      bar.clear()
      output.note(`No longer waiting; the redrive goes on: jadwal redrives show ${id}`)
      throw error
    })
  }
}

function runsText(runs: Redrive['runs']): string {
  return Object.entries(runs ?? {})
    .map(([state, count]) => `${count} ${state}`)
    .join(', ')
}
