import { z } from 'zod'

/** When a run was due right before somebody changed it, and when it is: alike where it was due already. */
export interface DueChange {
  before: Date
  after: Date
}

/** Of what a script says, in ms. */
export function dueChange(reply: unknown): DueChange {
  const [before, after] = z.tuple([z.number(), z.number()]).parse(reply)
  return { before: new Date(before), after: new Date(after) }
}
