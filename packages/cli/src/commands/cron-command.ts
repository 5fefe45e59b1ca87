import type { Command } from 'commander'
import { z } from 'zod'
import { parseAnswer } from '../http/list.ts'
import { instant, wholeNumber } from '../options/values.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import { UsageError } from '../http/api-errors.ts'

const Preview = z.looseObject({
  description: z.string(),
  ticks: z.array(z.string()),
  local: z.array(z.string()),
})

interface CronOptions {
  every?: string
  timezone?: string
  from?: string
  count: number
}

/** `jadwal cron`: what an expression means, before it is a schedule. */
export function addCronCommand(shell: Shell, program: Command): void {
  const cron = subcommand(program, 'cron', 'Show what a cron expression means, and when it ticks')
    .argument('[expression]', "in quotes: '0 6 1 * *'")
    .option('--every <duration>', 'instead of an expression, such as 90s')
    .option('--timezone <zone>', 'IANA zone of the expression (default: UTC)')
    .option(
      '--from <instant>',
      'from then on (default: now)',
      instant(shell.terminal.clock, 'future'),
    )
    .option('--count <count>', 'so many ticks', wholeNumber(1, 1_000), 10)
  apiCommand<CronOptions>(shell, cron, async ({ api, output }, { args: [expression], options }) => {
    const { every, timezone, from, count } = options
    if ((expression === undefined) === (every === undefined))
      throw new UsageError('give a cron expression, or --every; one of the two')
    const body = { cron: expression, every, timezone, from, count }
    const answer = await api.post('/cron/preview', body)
    output.either(answer, () => {
      const { description, ticks, local } = parseAnswer(Preview, answer)
      output.line(description)
      const rows = ticks.map((tickAt, at) => ({ tickAt, local: local[at] ?? '' }))
      output.rows(
        rows,
        [
          { title: 'in its zone', of: (row) => row.local.replace('T', ' ') },
          { title: 'here', of: ({ tickAt }) => output.times.at(tickAt) },
          { title: 'in', of: ({ tickAt }) => output.times.relative(tickAt) },
        ],
        'It never ticks.',
      )
    })
  }).addHelpText('after', "\nExample: jadwal cron '0 6 L * *' --timezone Asia/Jakarta --count 3")
}
