import type { Kysely } from 'kysely'
import type { TokenRow } from './access-tables.ts'
import { decodeCursor, encodeCursor, UUID } from './cursor.ts'
import type { Database } from './database.ts'
import { type Page, pageLimit, pageOf, type PageRequest } from './page.ts'

/** Tokens that may be live at once: every api keeps all of them in memory. */
export const MOST_LIVE_TOKENS = 1_000

/** Who revokes a token that has expired, so that its name is free again. */
const EXPIRY = 'expiry'

export type NewToken = Pick<
  TokenRow,
  'id' | 'name' | 'hash' | 'role' | 'created_by' | 'created_at' | 'expires_at'
>
export type LiveToken = Pick<TokenRow, 'id' | 'name' | 'hash' | 'role' | 'expires_at'>

/** Keeps a token, unless a live one has its name, or there are too many. */
export function createToken(
  db: Kysely<Database>,
  token: NewToken,
): Promise<'created' | 'name-taken' | 'too-many'> {
  return db.transaction().execute(async (tx) => {
    await tx
      .updateTable('tokens')
      .set({ revoked_at: token.created_at, revoked_by: EXPIRY })
      .where('name', '=', token.name)
      .where('revoked_at', 'is', null)
      .where('expires_at', '<=', token.created_at)
      .execute()
    const live = await listLiveTokens(tx, token.created_at)
    if (live.length >= MOST_LIVE_TOKENS) return 'too-many'
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('tokens')
      .values(token)
      .onConflict((oc) => oc.column('name').where('revoked_at', 'is', null).doNothing())
      .executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows === 1n ? 'created' : 'name-taken'
  })
}

/** Tokens that are neither revoked nor have expired by `now`. Served by tokens_name_of_unrevoked_idx. */
export async function listLiveTokens(db: Kysely<Database>, now: Date): Promise<LiveToken[]> {
  return await db
    .selectFrom('tokens')
    .select(['id', 'name', 'hash', 'role', 'expires_at'])
    .where('revoked_at', 'is', null)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .execute()
}

/** All tokens, the latest first, dead ones too. Served by tokens_pkey. Throws BadCursorError. */
export async function listTokens(
  db: Kysely<Database>,
  page: PageRequest,
): Promise<Page<Omit<TokenRow, 'hash'>>> {
  const limit = pageLimit(page)
  let query = db
    .selectFrom('tokens')
    .select(['id', 'name', 'role', 'created_by', 'created_at', 'expires_at', 'last_used_at'])
    .select(['revoked_at', 'revoked_by'])
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (page.cursor !== undefined) query = query.where('id', '<', decodeCursor(page.cursor, UUID))
  return pageOf(await query.execute(), limit, (last) => encodeCursor(last.id))
}

/**
 * Revokes a token for good. Resolves to what it was before, undefined when there is none; one that was
 * revoked before stays as it was.
 */
export function revokeToken(
  db: Kysely<Database>,
  id: string,
  { by, at }: { by: string; at: Date },
): Promise<Omit<TokenRow, 'hash'> | undefined> {
  return db.transaction().execute(async (tx) => {
    const before = await tx
      .selectFrom('tokens')
      .select(['id', 'name', 'role', 'created_by', 'created_at', 'expires_at', 'last_used_at'])
      .select(['revoked_at', 'revoked_by'])
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst()
    if (before?.revoked_at === null)
      await tx
        .updateTable('tokens')
        .set({ revoked_at: at, revoked_by: by })
        .where('id', '=', id)
        .execute()
    return before
  })
}

/** Notes that a token was used, unless that was noted within `atLeastMs` before, by this process or another. */
export async function noteTokenUse(
  db: Kysely<Database>,
  id: string,
  { at, atLeastMs }: { at: Date; atLeastMs: number },
): Promise<void> {
  await db
    .updateTable('tokens')
    .set({ last_used_at: at })
    .where('id', '=', id)
    .where((where) =>
      where.or([
        where('last_used_at', 'is', null),
        where('last_used_at', '<=', new Date(at.getTime() - atLeastMs)),
      ]),
    )
    .execute()
}
