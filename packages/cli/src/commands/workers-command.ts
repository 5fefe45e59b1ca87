import type { Command } from 'commander'
import { z } from 'zod'
import { showWholeList } from '../http/list.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import { stateColor } from '../show/colors.ts'
import type { Column } from '../show/table.ts'

const MIB = 1024 * 1024

const Worker = z.looseObject({
  instance: z.string(),
  host: z.string(),
  pid: z.number(),
  version: z.string(),
  state: z.string(),
  startedAt: z.string(),
  runningCount: z.number(),
  memoryBytes: z.number(),
  queues: z.array(z.looseObject({ name: z.string(), concurrency: z.number() })),
})

/** `jadwal workers`: those that live, and what they have in hand. */
export function addWorkersCommand(shell: Shell, program: Command): void {
  apiCommand(
    shell,
    subcommand(program, 'workers', 'List the workers that live'),
    async (session) => {
      const { times } = session.output
      const columns: Column<z.infer<typeof Worker>>[] = [
        { title: 'worker', of: ({ instance }) => instance, isWhole: true },
        { title: 'state', of: ({ state }) => state, color: ({ state }) => stateColor(state) },
        { title: 'version', of: ({ version }) => version },
        { title: 'since', of: ({ startedAt }) => times.at(startedAt) },
        { title: 'runs', of: ({ runningCount }) => runningCount, align: 'right' },
        {
          title: 'memory',
          of: ({ memoryBytes }) => `${Math.round(memoryBytes / MIB)} MiB`,
          align: 'right',
        },
        {
          title: 'queues',
          of: ({ queues }) =>
            queues.map(({ name, concurrency }) => `${name}:${concurrency}`).join(' '),
        },
      ]
      const empty = 'No worker lives.'
      await showWholeList(session, { path: '/workers', item: Worker, columns, empty })
    },
  )
}
