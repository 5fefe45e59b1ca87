import { z } from 'zod'
import { parseAnswer } from '../http/list.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../show/one-line.ts'
import { FAILED } from '../show/tell-error.ts'

const Settlings = z.looseObject({
  items: z.array(
    z.looseObject({
      id: z.string(),
      redrivenAs: z.string().optional(),
      discarded: z.boolean().optional(),
      refused: z.string().optional(),
      detail: z.string().optional(),
    }),
  ),
})

/** Tells what became of each letter. Gives 1 when one was refused. */
export function tellSettlings({ output }: Session, answer: unknown): number {
  const { items } = parseAnswer(Settlings, answer)
  output.either(answer, () => {
    for (const { id, redrivenAs, discarded, refused, detail } of items) {
      if (redrivenAs !== undefined) output.line(`${id} is made again as ${redrivenAs}`)
      else if (discarded) output.line(`${id} is discarded`)
      else
        output.raw(output.paint('red', oneLine(`${id} is refused (${refused}): ${detail ?? ''}`)))
    }
  })
  return items.some(({ refused }) => refused !== undefined) ? FAILED : 0
}
