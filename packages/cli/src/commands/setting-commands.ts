import type { Command } from 'commander'
import { z } from 'zod'
import { addPaging, type PagingOptions, parseAnswer, showList } from '../http/list.ts'
import { confirm } from '../options/confirm.ts'
import { readTextFile, readYamlText } from '../options/yaml-text.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import { valueText } from '../show/json-text.ts'
import type { Column } from '../show/table.ts'

const Setting = z.looseObject({
  name: z.string(),
  source: z.string().nullish(),
  author: z.string().nullish(),
  changedAt: z.string().nullish(),
})
type Setting = z.infer<typeof Setting>

/** What people set under a name, as one document. */
export interface SettingKind {
  /** Below `/api/v1`. */
  path: string
  /** What one is called; its argument too. */
  word: string
  words: string
  /** Fields that a list shows besides. */
  fields: readonly string[]
  /** Changes of it may have a reason. */
  hasReason?: boolean
}

interface ChangeOptions {
  reason?: string
  yes: boolean
}

/** `list`, `show`, `set` and `delete` of one kind. */
export function addSettingCommands(shell: Shell, parent: Command, kind: SettingKind): void {
  addReading(shell, parent, kind)
  const { path, word } = kind
  const set = subcommand(parent, 'set', `Create or replace a ${word}`)
    .argument(`<${word}>`)
    .argument('<file>', 'its fields as YAML or JSON; - reads standard input')
  const remove = subcommand(parent, 'delete', `Delete a ${word}`)
    .argument(`<${word}>`)
    .option('--yes', 'without being asked', false)
  if (kind.hasReason) for (const each of [set, remove]) each.option('--reason <text>')
  apiCommand<ChangeOptions>(shell, set, async ({ api, output, terminal }, { args, options }) => {
    const [name = '', file = ''] = args
    const body = await readYamlText(file, await readTextFile(terminal, file))
    const query = { reason: options.reason }
    const at = `${path}/${encodeURIComponent(name)}`
    const answer = await api.send(at, { method: 'PUT', query, body })
    output.either(answer.body, () =>
      output.line(`${name} is ${answer.status === 201 ? 'created' : 'set'}`),
    )
  })
  apiCommand<ChangeOptions>(shell, remove, async (session, { args: [name = ''], options }) => {
    const { api, output, terminal } = session
    await confirm(terminal, `This deletes the ${word} ${name}.`, options)
    const query = { reason: options.reason }
    await api.send(`${path}/${encodeURIComponent(name)}`, { method: 'DELETE', query })
    output.either({ name, deleted: true }, () => output.line(`${name} is deleted`))
  })
}

function addReading(
  shell: Shell,
  parent: Command,
  { path, word, words, fields }: SettingKind,
): void {
  const list = addPaging(subcommand(parent, 'list', `List the ${words} by name`))
  apiCommand<PagingOptions>(shell, list, async (session, { options }) => {
    const { times } = session.output
    const columns: Column<Setting>[] = [
      { title: word, of: ({ name }) => name, isWhole: true },
      ...fields.map((field) => ({ title: field, of: (each: Setting) => shown(each[field]) })),
      { title: 'by', of: ({ author }) => author },
      { title: 'changed', of: ({ changedAt }) => times.at(changedAt) },
    ]
    await showList(session, { path, item: Setting, columns, empty: `No ${words}.` }, options)
  })
  const show = subcommand(parent, 'show', `Show a ${word}`).argument(`<${word}>`)
  apiCommand(shell, show, async ({ api, output }, { args: [name = ''] }) => {
    const answer = await api.get(`${path}/${encodeURIComponent(name)}`)
    const { changedAt, ...rest } = parseAnswer(Setting, answer)
    const texts = Object.entries(rest).map(([key, value]): [string, string] => [key, shown(value)])
    output.either(answer, () =>
      output.fields({ ...Object.fromEntries(texts), changed: output.times.full(changedAt) }),
    )
  })
}

function shown(value: unknown): string {
  return value == null ? '' : valueText(value)
}
