import type { Command } from 'commander'
import { z } from 'zod'
import { wholeNumber } from '../options/values.ts'
import type { Session } from '../session.ts'
import type { Column } from '../show/table.ts'
import type { Api, Query } from './api.ts'
import { UnreachableError } from './api-errors.ts'

const DEFAULT_LIMIT = 50
const LARGEST_PAGE = 200

const Page = z.looseObject({
  items: z.array(z.unknown()),
  nextCursor: z.string().nullish(),
  /** What some lists say besides, for people to know. */
  warnings: z.array(z.string()).optional(),
  /** Of a list without pages: there is more than it has. */
  truncated: z.boolean().optional(),
})
type Page = z.infer<typeof Page>

export interface PagingOptions {
  limit?: number
  cursor?: string
  all: boolean
}

/** Options of a list that has pages. */
export function addPaging(command: Command): Command {
  return command
    .option(
      '--limit <count>',
      `so many at most (default: ${DEFAULT_LIMIT})`,
      wholeNumber(1, 1_000_000),
    )
    .option('--cursor <cursor>', 'go on behind a page: its nextCursor')
    .option('--all', 'all of them; with --json one a line', false)
}

export interface ListRequest<T> {
  path: string
  query?: Query
  /** What the table needs of an item. */
  item: z.ZodType<T>
  columns: readonly Column<T>[]
  /** Said where there is none. */
  empty: string
}

/** Shows a list: page by page, as far as it was asked for. Programs get the items as the api has them. */
export async function showList<T>(
  session: Session,
  request: ListRequest<T>,
  paging: PagingOptions,
): Promise<void> {
  const { output } = session
  const most = paging.limit ?? (paging.all ? Infinity : DEFAULT_LIMIT)
  const table = output.table(request.columns)
  const kept: unknown[] = []
  let shown = 0
  let last: Page = { items: [] }
  let nextCursor: string | null = null
  for await (const page of pages(session.api, request, { most, cursor: paging.cursor })) {
    ;[last, nextCursor] = [page, page.nextCursor ?? null]
    shown += page.items.length
    if (!output.isJson) {
      if (page.items.length > 0) output.more(table.text(parseItems(request.item, page.items)))
    } else if (paging.all) for (const item of page.items) output.jsonLine(item)
    else kept.push(...page.items)
  }
  if (output.isJson) {
    if (!paging.all) output.json({ ...last, items: kept, nextCursor })
  } else {
    for (const warning of last.warnings ?? []) output.note(`Warning: ${warning}`)
    tellMore(output, { shown, nextCursor, empty: request.empty })
  }
}

function tellMore(
  output: Session['output'],
  { shown, nextCursor, empty }: { shown: number; nextCursor: string | null; empty: string },
): void {
  if (shown === 0) output.note(empty)
  else if (nextCursor !== null)
    output.note(`There are more: --limit, --all, or --cursor ${nextCursor}`)
}

/** The pages of a list, of `most` items together. */
async function* pages(
  api: Api,
  { path, query = {} }: { path: string; query?: Query },
  { most, cursor }: { most: number; cursor?: string | undefined },
): AsyncGenerator<Page> {
  let [left, next] = [most, cursor]
  for (;;) {
    const limit = Math.min(left, LARGEST_PAGE)
    const page = parseAnswer(Page, await api.get(path, { ...query, limit, cursor: next }))
    yield page
    left -= page.items.length
    if (page.nextCursor == null || left <= 0) return
    next = page.nextCursor
  }
}

/** Shows a list that the api gives whole. */
export async function showWholeList<T>(session: Session, request: ListRequest<T>): Promise<void> {
  const { output, api } = session
  const answer = await api.get(request.path, request.query)
  const { items, truncated } = parseAnswer(Page, answer)
  output.either(answer, () => {
    output.rows(parseItems(request.item, items), request.columns, request.empty)
    if (truncated) output.note(`There are more: these ${items.length} are what the api shows.`)
  })
}

function parseItems<T>(schema: z.ZodType<T>, items: readonly unknown[]): T[] {
  return items.map((item) => parseAnswer(schema, item))
}

/** What the api answered. Throws UnreachableError for what no api of this version says. */
export function parseAnswer<T>(schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UnreachableError(
    `the api answers in a way that this command does not know (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}). Are both of one version? "jadwal doctor" tells.`,
  )
}
