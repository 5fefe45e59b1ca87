import type { Command } from 'commander'
import { z } from 'zod'
import { addPaging, type PagingOptions, parseAnswer, showList } from '../http/list.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import type { Column } from '../show/table.ts'
import { between } from '../show/times.ts'

const Leader = z.looseObject({ instance: z.string(), term: z.number(), since: z.string() })

const Term = z.looseObject({
  term: z.number(),
  instance: z.string(),
  from: z.string(),
  until: z.string().nullish(),
  reason: z.string().nullish(),
})

/** `jadwal leader`: who leads, who did, and a hand-over. */
export function addLeaderCommands(shell: Shell, program: Command): void {
  const leader = subcommand(program, 'leader', 'Show the scheduler that leads, and hand over')
  apiCommand(shell, subcommand(leader, 'show', 'Show who leads'), async ({ api, output }) => {
    const answer = await api.get('/leader')
    const { instance, term, since } = parseAnswer(Leader, answer)
    output.either(answer, () =>
      output.fields({ leader: instance, term, since: output.times.full(since) }),
    )
  })
  const terms = addPaging(subcommand(leader, 'terms', 'List who led, the latest first'))
  apiCommand<PagingOptions>(shell, terms, async (session, { options }) => {
    const { times } = session.output
    const columns: Column<z.infer<typeof Term>>[] = [
      { title: 'term', of: ({ term }) => term, isWhole: true },
      { title: 'instance', of: ({ instance }) => instance },
      { title: 'from', of: ({ from }) => times.at(from) },
      { title: 'until', of: ({ until }) => times.at(until) },
      { title: 'for', of: ({ from, until }) => between(from, until), align: 'right' },
      { title: 'ended', of: ({ reason }) => reason },
    ]
    const empty = 'No scheduler has led yet.'
    await showList(session, { path: '/leader/terms', item: Term, columns, empty }, options)
  })
  const down = subcommand(leader, 'step-down', 'Let another scheduler lead, and wait until it does')
  apiCommand(shell, down, async ({ api, output }) => {
    const answer = await api.post('/leader/step-down')
    const { instance, term } = parseAnswer(Leader, answer)
    output.either(answer, () => output.line(`${instance} leads now, term ${term}`))
  })
}
