import type { Command } from 'commander'
import { z } from 'zod'
import { CommandError } from '../http/api-errors.ts'
import { parseAnswer, showWholeList } from '../http/list.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import { stateColor } from '../show/colors.ts'
import { valueText } from '../show/json-text.ts'
import type { Output } from '../show/output.ts'
import type { Column } from '../show/table.ts'
import { roughly } from '../show/times.ts'

const JobAnswer = z.looseObject({
  name: z.string(),
  queue: z.string(),
  attempts: z.number().nullish(),
  timeoutMs: z.number().nullish(),
  payloadSchema: z.unknown().optional(),
  fuse: z
    .looseObject({ state: z.string(), openUntil: z.string().nullish(), parked: z.number() })
    .nullish(),
})
type JobAnswer = z.infer<typeof JobAnswer>

const Jobs = z.looseObject({ items: z.array(JobAnswer) })

/** `jadwal jobs`: the catalogue that workers have published. */
export function addJobsCommand(shell: Shell, program: Command): void {
  const jobs = subcommand(
    program,
    'jobs',
    'List the jobs that workers serve, or show one of them',
  ).argument('[job]')
  apiCommand(shell, jobs, async (session, { args: [name] }) => {
    const empty = 'No worker has published its jobs yet. Is one running?'
    if (name === undefined)
      return await showWholeList(session, {
        path: '/jobs',
        item: JobAnswer,
        columns: COLUMNS,
        empty,
      })
    const answer = await session.api.get('/jobs')
    const items = parseAnswer(Jobs, answer).items
    const job = items.find((each) => each.name === name)
    if (!job)
      throw new CommandError(
        `there is no job "${name}". ${items.length === 0 ? empty : `Known jobs: ${items.map((each) => each.name).join(', ')}.`}`,
      )
    session.output.either(job, () => showJob(session.output, job))
  }).addHelpText('after', '\nExamples:\n  jadwal jobs\n  jadwal jobs email.send')
}

const COLUMNS: Column<JobAnswer>[] = [
  { title: 'job', of: ({ name }) => name, isWhole: true },
  { title: 'queue', of: ({ queue }) => queue },
  { title: 'attempts', of: ({ attempts }) => attempts, align: 'right' },
  {
    title: 'timeout',
    of: ({ timeoutMs }) => (timeoutMs == null ? '' : roughly(timeoutMs)),
    align: 'right',
  },
  { title: 'fuse', of: ({ fuse }) => fuse?.state, color: ({ fuse }) => stateColor(fuse?.state) },
]

function showJob(output: Output, job: JobAnswer): void {
  const { name, queue, payloadSchema, fuse, timeoutMs, ...rest } = job
  output.raw(output.paint('bold', name))
  output.fields({
    queue,
    timeout: timeoutMs == null ? '' : roughly(timeoutMs),
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, valueText(value)])),
    fuse:
      fuse == null
        ? ''
        : `${fuse.state}${fuse.openUntil == null ? '' : ` until ${output.times.at(fuse.openUntil)}`}, ${fuse.parked} runs parked`,
  })
  output.heading('Payload (JSON Schema)')
  output.block(JSON.stringify(payloadSchema ?? null, null, 2))
}
