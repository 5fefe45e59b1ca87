import type { Command } from 'commander'
import { z } from 'zod'
import { parseAnswer } from '../http/list.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'

const Me = z.looseObject({
  name: z.string(),
  role: z.string(),
  by: z.string(),
  endsAt: z.string().nullish(),
})

const WAYS: Readonly<Record<string, string>> = {
  token: 'a token',
  session: 'a session',
  nothing: 'nothing: the api is open to this machine (JADWAL_AUTH=off)',
}

/** `jadwal whoami`: as whom the api knows the one who asks. */
export function addWhoamiCommand(shell: Shell, program: Command): void {
  const whoami = subcommand(program, 'whoami', 'Show as whom the api knows you').alias('me')
  apiCommand(shell, whoami, async ({ api, output }) => {
    const answer = await api.get('/me')
    const { name, role, by, endsAt } = parseAnswer(Me, answer)
    output.either(answer, () =>
      output.fields({
        name,
        role,
        'came by':
          by === 'bootstrap' ? `JADWAL_${role.toUpperCase()}_TOKEN of the api` : (WAYS[by] ?? by),
        ends: output.times.full(endsAt),
        api: api.connection.url,
      }),
    )
  })
}
