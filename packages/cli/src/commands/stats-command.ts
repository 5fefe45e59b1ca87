import type { Command } from 'commander'
import { z } from 'zod'
import { parseAnswer } from '../http/list.ts'
import { instant, oneOf } from '../options/values.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import type { Column } from '../show/table.ts'
import { roughly } from '../show/times.ts'

const Times = z.looseObject({
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
})

const tally = {
  succeeded: z.number(),
  dead: z.number(),
  cancelled: z.number(),
  retries: z.number(),
  failureRate: z.number().nullable(),
  wait: Times,
  duration: Times,
}

const Stats = z.looseObject({
  from: z.string(),
  to: z.string(),
  step: z.string(),
  totals: z.looseObject(tally),
  series: z.array(z.looseObject({ at: z.string(), ...tally })),
})
type Point = z.infer<typeof Stats>['totals'] & { at?: string }

interface StatsOptions {
  window?: string
  from?: string
  to?: string
  job?: string
  queue?: string
  schedule?: string
  step?: string
  series: boolean
}

/** `jadwal stats`: how runs ended, and how long they waited and took. */
export function addStatsCommand(shell: Shell, program: Command): void {
  const past = instant(shell.terminal.clock, 'past')
  const stats = subcommand(
    program,
    'stats',
    'Show how runs ended, and how long they waited and took',
  )
    .option('--window <duration>', 'so far back: 1h (default), 24h, 7d')
    .option('--from <instant>', 'instead of --window', past)
    .option('--to <instant>', 'before (default: now)', past)
    .option('--job <name>')
    .option('--queue <name>')
    .option('--schedule <name>')
    .option(
      '--step <step>',
      'of the series: auto, minute, hour or day',
      oneOf('auto', 'minute', 'hour', 'day'),
    )
    .option('--series', 'each step of the time, and not only all of it', false)
  apiCommand<StatsOptions>(shell, stats, async ({ api, output }, { options }) => {
    const { window, from, to, job, queue, schedule, step } = options
    const answer = await api.get('/stats', { window, from, to, job, queue, schedule, step })
    output.either(answer, () => {
      const { totals, series, ...range } = parseAnswer(Stats, answer)
      const { times } = output
      output.line(`From ${times.at(range.from)} to ${times.at(range.to)}`)
      const points: Point[] = [...(options.series ? series : []), totals]
      output.rows(
        points,
        columns((at) => (at === undefined ? 'all' : times.at(at))),
        '',
      )
    })
  }).addHelpText('after', '\nExample: jadwal stats --queue emails --window 24h --series')
}

function columns(atText: (at: string | undefined) => string): Column<Point>[] {
  return [
    { title: 'time', of: ({ at }) => atText(at) },
    { title: 'succeeded', of: ({ succeeded }) => succeeded, align: 'right' },
    {
      title: 'dead',
      of: ({ dead }) => dead,
      align: 'right',
      color: ({ dead }) => (dead > 0 ? 'red' : undefined),
    },
    { title: 'cancelled', of: ({ cancelled }) => cancelled, align: 'right' },
    {
      title: 'failures',
      of: ({ failureRate }) =>
        failureRate === null ? '' : `${Math.round(failureRate * 1_000) / 10} %`,
      align: 'right',
    },
    { title: 'retries', of: ({ retries }) => retries, align: 'right' },
    { title: 'wait p50', of: ({ wait }) => ms(wait.p50Ms), align: 'right' },
    { title: 'p95', of: ({ wait }) => ms(wait.p95Ms), align: 'right' },
    { title: 'p99', of: ({ wait }) => ms(wait.p99Ms), align: 'right' },
    { title: 'took p50', of: ({ duration }) => ms(duration.p50Ms), align: 'right' },
    { title: 'p95', of: ({ duration }) => ms(duration.p95Ms), align: 'right' },
    { title: 'p99', of: ({ duration }) => ms(duration.p99Ms), align: 'right' },
  ]
}

function ms(value: number | null): string {
  return value === null ? '' : roughly(value)
}
