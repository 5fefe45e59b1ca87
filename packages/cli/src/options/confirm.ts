import { CommandError, UsageError } from '../http/api-errors.ts'
import type { Terminal } from '../terminal.ts'

/**
 * Asks before something that can't be undone, unless `--yes` was given. Where nobody can be asked, it
 * must have been given.
 */
export async function confirm(
  terminal: Terminal,
  what: string,
  { yes }: { yes: boolean },
): Promise<void> {
  if (yes) return
  const answer = await terminal.ask(`${what}\nDo it? [y/N] `)
  if (answer === undefined) throw new UsageError(`${what}\nGive --yes to do it.`)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was done.')
}
