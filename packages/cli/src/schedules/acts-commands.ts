import { OverlapPolicy } from '@jadwal/domain'
import type { Command } from 'commander'
import { z } from 'zod'
import { UsageError } from '../http/api-errors.ts'
import { parseAnswer } from '../http/list.ts'
import { confirm } from '../options/confirm.ts'
import { readJsonValue } from '../options/json-value.ts'
import { durationMs, instant, oneOf } from '../options/values.ts'
import { followRun } from '../runs/follow.ts'
import { apiCommand, type Session, type Shell, subcommand } from '../session.ts'
import { Pause, ScheduleAnswer } from './schedule-answer.ts'
import { pauseText } from './show-schedule.ts'

interface PauseOptions {
  everything: boolean
  reason?: string
  until?: string
}

interface TriggerOptions {
  payload?: string
  overlap?: string
  wait: boolean
  timeout?: number
}

/** `jadwal schedules pause`, `resume`, `trigger` and `delete`. */
export function addActsCommands(shell: Shell, schedules: Command): void {
  const pause = subcommand(schedules, 'pause', 'Let schedules rest: their ticks get no run')
    .argument('[schedule...]')
    .option('--everything', 'every schedule', false)
    .option('--reason <text>')
    .option(
      '--until <instant>',
      'resume by itself: 2h, "2026-12-24 08:00"',
      instant(shell.terminal.clock, 'future'),
    )
  apiCommand<PauseOptions>(shell, pause, async (session, { args, options }) => {
    const { reason, until } = options
    await pauseOrResume(session, { act: 'pause', names: args, body: { reason, until } }, options)
  }).addHelpText(
    'after',
    '\nExamples:\n  jadwal schedules pause monthly-report --until 2d --reason "books are closed"\n  jadwal schedules pause --everything',
  )
  const resume = subcommand(schedules, 'resume', 'Let schedules fire again')
    .argument('[schedule...]')
    .option('--everything', 'end the pause of every schedule; pauses of single ones stay', false)
  apiCommand<PauseOptions>(shell, resume, async (session, { args, options }) => {
    await pauseOrResume(session, { act: 'resume', names: args, body: {} }, options)
  })
  addTriggerCommand(shell, schedules)
  addDeleteCommand(shell, schedules)
}

const EverythingAnswer = z.looseObject({ pause: Pause.nullish() })

async function pauseOrResume(
  { api, output }: Session,
  { act, names, body }: { act: 'pause' | 'resume'; names: readonly string[]; body: object },
  { everything }: { everything: boolean },
): Promise<void> {
  if (everything === names.length > 0)
    throw new UsageError(`name schedules to ${act}, or give --everything; one of the two`)
  if (everything) {
    const answer = await api.post(`/${act}`, body)
    const { pause } = parseAnswer(EverythingAnswer, answer)
    output.either(answer, () =>
      output.line(
        pause == null
          ? 'Everything fires again'
          : `Everything rests ${pauseText(output.times, pause)}`,
      ),
    )
  }
  for (const name of names) {
    const answer = await api.post(`/schedules/${encodeURIComponent(name)}/${act}`, body)
    const { pause, nextTick } = parseAnswer(ScheduleAnswer, answer)
    if (output.isJson) output.jsonLine(answer)
    else
      output.line(
        pause == null
          ? `${name} fires again; next tick: ${output.times.full(nextTick) || 'none'}`
          : `${name} rests (${pauseText(output.times, pause)})`,
      )
  }
}

const Triggered = z.looseObject({ id: z.string() })

function addTriggerCommand(shell: Shell, schedules: Command): void {
  const trigger = subcommand(
    schedules,
    'trigger',
    'Give a schedule a run now, which belongs to no tick',
  )
    .argument('<schedule>')
    .option('--payload <json>', "over the schedule's: JSON, @file, or - for standard input")
    .option(
      '--overlap <policy>',
      `when a run is unfinished: ${OverlapPolicy.options.join(', ')}`,
      oneOf(...OverlapPolicy.options),
    )
    .option('--wait', 'follow the run to its end; 1 when it did not succeed', false)
    .option('--timeout <duration>', 'with --wait: no longer than this', durationMs)
  apiCommand<TriggerOptions>(shell, trigger, async (session, { args: [name = ''], options }) => {
    const { api, output, terminal } = session
    if (options.timeout !== undefined && !options.wait)
      throw new UsageError('--timeout goes with --wait')
    const payload =
      options.payload === undefined
        ? {}
        : { payload: await readJsonValue(terminal, '--payload', options.payload) }
    const body = { ...payload, overlap: options.overlap }
    const answer = await api.post(`/schedules/${encodeURIComponent(name)}/trigger`, body)
    const { id } = parseAnswer(Triggered, answer)
    if (options.wait) return await followRun(session, id, options.timeout)
    output.either(answer, () => output.line(id))
    return 0
  }).addHelpText('after', '\nExample: jadwal schedules trigger monthly-report --wait --timeout 10m')
}

interface DeleteOptions {
  reason?: string
  yes: boolean
}

function addDeleteCommand(shell: Shell, schedules: Command): void {
  const remove = subcommand(
    schedules,
    'delete',
    'Delete a schedule that no file has made; its history stays',
  )
    .argument('<schedule>')
    .option('--reason <text>')
    .option('--yes', 'without being asked', false)
  apiCommand<DeleteOptions>(shell, remove, async (session, { args: [name = ''], options }) => {
    const { api, output, terminal } = session
    await confirm(terminal, `The schedule ${name} will fire no more.`, options)
    const query = { reason: options.reason }
    await api.send(`/schedules/${encodeURIComponent(name)}`, { method: 'DELETE', query })
    output.either({ name, deleted: true }, () => output.line(`${name} is deleted`))
  })
}
