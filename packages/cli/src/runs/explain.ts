import type { Command } from 'commander'
import { z } from 'zod'
import { parseAnswer } from '../http/list.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import { stateColor } from '../show/colors.ts'
import { oneLine } from '../show/one-line.ts'
import type { Output } from '../show/output.ts'

const Explanation = z.looseObject({
  id: z.string(),
  state: z.string(),
  reasons: z.array(
    z.looseObject({ kind: z.string(), message: z.string(), help: z.string().nullish() }),
  ),
})

/** `jadwal runs explain`: why a run has not started. */
export function addExplainCommand(shell: Shell, runs: Command): void {
  const explain = subcommand(runs, 'explain', 'Say why a run has not started').argument('<id>')
  apiCommand(shell, explain, async ({ api, output }, { args: [id = ''] }) => {
    const answer = await api.get(`/runs/${encodeURIComponent(id)}/explain`)
    output.either(answer, () => showExplanation(output, parseAnswer(Explanation, answer)))
  })
}

function showExplanation(
  output: Output,
  { id, state, reasons }: z.infer<typeof Explanation>,
): void {
  output.raw(`${oneLine(id)} is ${output.paint(stateColor(state), oneLine(state))}`)
  for (const { kind, message, help } of reasons) {
    output.raw(`  ${output.paint('yellow', oneLine(kind))}: ${oneLine(message)}`)
    if (help != null) output.raw(`    ${oneLine(help)}`)
  }
}
