import type { Command } from 'commander'
import { z } from 'zod'
import { followEvents } from '../http/follow-events.ts'
import { append } from '../options/values.ts'
import { apiCommand, type Session, type Shell, subcommand } from '../session.ts'
import { stateColor } from '../show/colors.ts'
import { oneLine } from '../show/one-line.ts'
import { between } from '../show/times.ts'
import { errorText } from './run-answer.ts'

const RunEvent = z.looseObject({
  at: z.string().nullish(),
  id: z.string(),
  attempt: z.number().nullish(),
  job: z.string().nullish(),
  queue: z.string().nullish(),
  state: z.string().nullish(),
  reason: z.string().nullish(),
  schedule: z.string().nullish(),
  startedAt: z.string().nullish(),
  finishedAt: z.string().nullish(),
  error: z.looseObject({ name: z.string().nullish(), message: z.string().nullish() }).nullish(),
})

interface TailOptions {
  job?: string[]
  queue?: string[]
  state?: string[]
  schedule?: string[]
}

/** `jadwal runs tail`: what becomes of runs, as it happens. */
export function addTailCommand(shell: Shell, runs: Command): void {
  const tail = subcommand(
    runs,
    'tail',
    'Watch runs start and end, until Ctrl-C; with --json one document a line',
  )
    .option('--job <name>', 'again for more', append)
    .option('--queue <name>', 'again for more', append)
    .option('--state <state>', 'again for more', append)
    .option('--schedule <name>', 'again for more', append)
  apiCommand<TailOptions>(shell, tail, tailRuns).addHelpText(
    'after',
    '\nExamples:\n  jadwal runs tail --queue emails --state dead\n  jadwal runs tail --json | jq .id',
  )
}

async function tailRuns(session: Session, { options }: { options: TailOptions }): Promise<void> {
  const { api, output, terminal } = session
  const { clock, stop } = terminal
  const { job, queue, schedule } = options
  const onTrouble = (message: string): void => output.note(`jadwal: ${message}`)
  try {
    const query = { types: 'run.*', job: only(job), queue: only(queue), schedule: only(schedule) }
    for await (const event of followEvents({ api, clock, stop, onTrouble }, query)) {
      const data = RunEvent.safeParse(parseJson(event.data))
      if (event.type === 'gap') onTrouble(`events are missing here (${event.data})`)
      else if (data.success && isWanted(data.data, options)) tell(session, event.type, data.data)
    }
  } catch (error) {
    // Ctrl-C is how it ends.
    if (!stop.aborted) throw error
  }
}

/** The api knows one of each; several are told apart here. */
function only(names: readonly string[] | undefined): string | undefined {
  return names?.length === 1 ? names[0] : undefined
}

function isWanted(run: z.infer<typeof RunEvent>, options: TailOptions): boolean {
  return (['job', 'queue', 'state', 'schedule'] as const).every((field) => {
    const wanted = options[field]
    return wanted === undefined || wanted.includes(run[field] ?? '')
  })
}

function tell({ output }: Session, type: string, run: z.infer<typeof RunEvent>): void {
  if (output.isJson) return output.jsonLine({ type, ...run })
  const { times, paint } = output
  const state = run.state ?? type.replace(/^run\./, '')
  const why = [run.reason, errorText(run.error)].filter((part) => part != null && part !== '')
  output.raw(
    [
      paint('dim', times.at(run.finishedAt ?? run.at)),
      paint(stateColor(state), state.padEnd(9)),
      oneLine(run.id),
      oneLine(`${run.job ?? ''} ${between(run.startedAt, run.finishedAt)}`),
      run.schedule == null ? '' : oneLine(`(${run.schedule})`),
      paint('red', oneLine(why.join(': '))),
    ]
      .filter((part) => part !== '')
      .join('  '),
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
