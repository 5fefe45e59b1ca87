import { z } from 'zod'
import { Api } from '../http/api.ts'
import { readConnection } from '../http/connection.ts'
import type { Terminal } from '../terminal.ts'
import type { Names } from './candidates.ts'

/** Whoever presses Tab does not wait longer. */
const WITHIN_MS = 1_500

const PATHS = {
  jobs: '/jobs',
  schedules: '/schedules?limit=200',
  queues: '/queues',
  calendars: '/calendars?limit=200',
  locks: '/locks',
} satisfies Record<Names, string>

const Items = z.looseObject({
  items: z.array(z.looseObject({ name: z.string().optional(), id: z.string().optional() })),
})

/** Names that the api knows; none when it does not answer at once. */
export async function fetchNames(
  terminal: Terminal,
  names: Names,
  words: readonly string[],
): Promise<string[]> {
  try {
    const url = valueIn(words, '--url')
    const tokenFile = valueIn(words, '--token-file')
    const connection = await readConnection(terminal, {
      ...(url === undefined ? {} : { url }),
      ...(tokenFile === undefined || tokenFile === '-' ? {} : { tokenFile }),
    })
    const stop = AbortSignal.any([terminal.stop, AbortSignal.timeout(WITHIN_MS)])
    const { items } = Items.parse(await new Api(connection, stop).get(PATHS[names]))
    return items.flatMap(({ name, id }) => name ?? id ?? [])
  } catch {
    return []
  }
}

function valueIn(words: readonly string[], option: string): string | undefined {
  const at = words.findLastIndex((word) => word === option || word.startsWith(`${option}=`))
  const word = words[at]
  return word === option ? words[at + 1] : word?.slice(option.length + 1)
}
