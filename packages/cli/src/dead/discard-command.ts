import type { Command } from 'commander'
import { z } from 'zod'
import { parseAnswer } from '../http/list.ts'
import { confirm } from '../options/confirm.ts'
import { apiCommand, type Session, type Shell, subcommand } from '../session.ts'
import { ProgressBar } from '../show/progress.ts'
import { addLetterFilter, type LetterFilter, whichOf, whichText } from './letter-options.ts'
import { tellSettlings } from './settlings.ts'

interface DiscardOptions extends LetterFilter {
  reason: string
  all: boolean
  yes: boolean
}

const Discarded = z.looseObject({ discarded: z.number(), nextCursor: z.string().nullish() })

/** `jadwal dead discard`: by ids, or page by page by what letters have in common. */
export function addDiscardCommand(shell: Shell, dead: Command): void {
  const discard = subcommand(
    dead,
    'discard',
    'Take dead letters out, for good; the history keeps the runs',
  )
    .argument('[id...]')
    .requiredOption('--reason <text>', 'why: the history keeps it')
    .option('--all', 'every dead letter', false)
    .option('--yes', 'without being asked', false)
  apiCommand<DiscardOptions>(
    shell,
    addLetterFilter(shell, discard),
    async (session, { args, options }) => {
      const { reason } = options
      const which = whichOf('discard', args, options)
      if (!('ids' in which))
        await confirm(session.terminal, `This discards ${whichText(which)}, for good.`, options)
      if ('ids' in which)
        return tellSettlings(
          session,
          await session.api.post('/dead-letters/discard', { ...which, reason }),
        )
      const discarded = await discardAll(session, { ...which, reason })
      session.output.either({ discarded }, () =>
        session.output.line(`${discarded} dead letters are discarded`),
      )
      return 0
    },
  ).addHelpText(
    'after',
    '\nExample: jadwal dead discard --fingerprint 0123456789abcdef --reason "fixed in 4.2" --yes',
  )
}

async function discardAll({ api, terminal }: Session, body: object): Promise<number> {
  const bar = new ProgressBar(terminal, 'dead letters discarded')
  let [done, cursor] = [0, undefined as string | undefined]
  try {
    for (;;) {
      const answer = await api.post('/dead-letters/discard', { ...body, cursor })
      const page = parseAnswer(Discarded, answer)
      done += page.discarded
      if (page.nextCursor == null) return done
      cursor = page.nextCursor
      bar.show({ done })
    }
  } finally {
    bar.clear()
  }
}
