import { z } from 'zod'
import { oneLine } from '../show/one-line.ts'
import type { Output } from '../show/output.ts'

/** The fields that differ between two versions. */
export const SpecDiff = z.array(
  z.looseObject({
    field: z.string(),
    before: z.unknown().optional(),
    after: z.unknown().optional(),
  }),
)

export function showDiff(output: Output, diff: z.infer<typeof SpecDiff>): void {
  for (const { field, before, after } of diff) {
    if (before !== undefined)
      output.raw(output.paint('red', `    - ${oneLine(`${field}: ${JSON.stringify(before)}`)}`))
    if (after !== undefined)
      output.raw(output.paint('green', `    + ${oneLine(`${field}: ${JSON.stringify(after)}`)}`))
  }
}
