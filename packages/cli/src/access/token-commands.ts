import { Role } from '@jadwal/domain'
import type { Command } from 'commander'
import { z } from 'zod'
import { addPaging, type PagingOptions, parseAnswer, showList } from '../http/list.ts'
import { confirm } from '../options/confirm.ts'
import { oneOf, wholeNumber } from '../options/values.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import type { Column } from '../show/table.ts'

const Token = z.looseObject({
  id: z.string(),
  name: z.string(),
  role: z.string(),
  state: z.string(),
  createdBy: z.string(),
  createdAt: z.string(),
  expiresAt: z.string().nullish(),
  lastUsedAt: z.string().nullish(),
})
type Token = z.infer<typeof Token>

const NewToken = Token.extend({ token: z.string() })

interface CreateOptions {
  role: string
  expiresInDays?: number
}

/** `jadwal token`: who may use the api. */
export function addTokenCommands(shell: Shell, program: Command): void {
  const token = subcommand(program, 'token', 'Make, list and revoke tokens of the api (admins)')
  const create = subcommand(token, 'create', 'Make a token; it is shown this once')
    .argument('<name>', 'who acts with it: so it stands in the history and the audit log')
    .requiredOption('--role <role>', `one of ${Role.options.join(', ')}`, oneOf(...Role.options))
    .option('--expires-in-days <days>', 'it never expires when left out', wholeNumber(1, 3_650))
  apiCommand<CreateOptions>(
    shell,
    create,
    async ({ api, output }, { args: [name = ''], options }) => {
      const { role, expiresInDays } = options
      const answer = await api.post('/tokens', { name, role, expiresInDays })
      output.either(answer, () => {
        const created = parseAnswer(NewToken, answer)
        output.line(created.token)
        const ends =
          created.expiresAt == null
            ? 'it never expires'
            : `it expires ${output.times.full(created.expiresAt)}`
        output.note(`${name}, ${created.role}; ${ends}. Keep it: it is not shown again.`)
      })
    },
  ).addHelpText(
    'after',
    '\nExample: jadwal token create ci-deploy --role operator --expires-in-days 90 > ci.token',
  )
  const list = addPaging(subcommand(token, 'list', 'List the tokens, never what they are'))
  apiCommand<PagingOptions>(shell, list, async (session, { options }) => {
    const { times } = session.output
    const columns: Column<Token>[] = [
      { title: 'id', of: ({ id }) => id, isWhole: true },
      { title: 'name', of: ({ name }) => name },
      { title: 'role', of: ({ role }) => role },
      {
        title: 'state',
        of: ({ state }) => state,
        color: ({ state }) => (state === 'live' ? 'green' : 'dim'),
      },
      { title: 'expires', of: ({ expiresAt }) => times.at(expiresAt) },
      { title: 'last used', of: ({ lastUsedAt }) => times.at(lastUsedAt) },
      { title: 'made by', of: ({ createdBy }) => createdBy },
    ]
    const empty = 'No tokens but those of the environment.'
    await showList(session, { path: '/tokens', item: Token, columns, empty }, options)
  })
  const revoke = subcommand(token, 'revoke', 'Let a token open nothing any more')
    .argument('<id>', 'as "jadwal token list" has it')
    .option('--yes', 'without being asked', false)
  apiCommand<{ yes: boolean }>(shell, revoke, async (session, { args: [id = ''], options }) => {
    const { api, output, terminal } = session
    await confirm(terminal, `Whoever uses the token ${id} is let in no more.`, options)
    await api.send(`/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' })
    output.either({ id, state: 'revoked' }, () => output.line(`${id} is revoked`))
  })
}
