import type { Command } from 'commander'
import { z } from 'zod'
import { parseAnswer } from '../http/list.ts'
import { instant } from '../options/values.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import { oneLine } from '../show/one-line.ts'
import type { Output } from '../show/output.ts'
import { cadenceText } from './schedule-answer.ts'

const Cadence = z.looseObject({
  cron: z.string().nullish(),
  every: z.unknown().optional(),
  timezone: z.string().nullish(),
})

const Load = z.looseObject({
  from: z.string(),
  to: z.string(),
  bucket: z.string(),
  schedules: z.number(),
  ticks: z.number(),
  peaks: z.array(
    z.looseObject({
      at: z.string(),
      ticks: z.number(),
      schedules: z.number(),
      cadences: z.array(z.looseObject({ cadence: Cadence, ticks: z.number() })),
    }),
  ),
  proposal: z
    .looseObject({
      peak: z.looseObject({
        before: z.looseObject({ second: z.number(), bucket: z.number() }),
        after: z.looseObject({ second: z.number(), bucket: z.number() }),
      }),
      changes: z.array(
        z.looseObject({
          cadence: Cadence,
          jitter: z.string(),
          schedules: z.number(),
          names: z.array(z.string()),
        }),
      ),
    })
    .nullish(),
  warnings: z.array(z.looseObject({ schedule: z.string(), message: z.string() })),
})

interface LoadOptions {
  from?: string
  to?: string
  bucket?: string
}

/** `jadwal schedules load`: how many ticks lie ahead, when they pile up, and how to spread them. */
export function addLoadCommand(shell: Shell, schedules: Command): void {
  const future = instant(shell.terminal.clock, 'future')
  const load = subcommand(
    schedules,
    'load',
    'Show how many ticks lie ahead, and where they pile up',
  )
    .option('--from <instant>', 'from then on (default: now)', future)
    .option('--to <instant>', 'until then, at most 7 days later (default: a day later)', future)
    .option('--bucket <duration>', 'counted by so much, such as 1m')
  apiCommand<LoadOptions>(shell, load, async ({ api, output }, { options }) => {
    const { from, to, bucket } = options
    const answer = await api.get('/schedules/load', { from, to, bucket })
    output.either(answer, () => showLoad(output, parseAnswer(Load, answer)))
  }).addHelpText('after', '\nExample: jadwal schedules load --to 7d --bucket 1h')
}

function showLoad(output: Output, load: z.infer<typeof Load>): void {
  const { times } = output
  output.line(
    `${load.ticks} ticks of ${load.schedules} schedules from ${times.at(load.from)} to ${times.at(load.to)}`,
  )
  if (load.peaks.length > 0) {
    output.heading(`Fullest, by ${load.bucket}`)
    output.rows(
      load.peaks,
      [
        { title: 'from', of: ({ at }) => times.at(at) },
        { title: 'ticks', of: ({ ticks }) => ticks, align: 'right' },
        { title: 'schedules', of: ({ schedules }) => schedules, align: 'right' },
        {
          title: 'most of them',
          of: ({ cadences: [most] }) =>
            most ? `${cadenceText(most.cadence)} (${most.ticks})` : '',
        },
      ],
      '',
    )
  }
  if (load.proposal != null) {
    const { peak, changes } = load.proposal
    output.heading('Proposal: give jitter')
    output.line(
      `The fullest second would have ${peak.after.second} ticks instead of ${peak.before.second}.`,
    )
    output.rows(
      changes,
      [
        { title: 'cadence', of: ({ cadence }) => cadenceText(cadence) },
        { title: 'jitter', of: ({ jitter }) => jitter },
        { title: 'schedules', of: ({ schedules }) => schedules, align: 'right' },
        { title: 'such as', of: ({ names }) => names.join(' ') },
      ],
      '',
    )
  }
  for (const { schedule, message } of load.warnings)
    output.raw(output.paint('yellow', `\nWarning: ${oneLine(`${schedule}: ${message}`)}`))
}
