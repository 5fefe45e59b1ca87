import { createToken, listTokens, MOST_LIVE_TOKENS, revokeToken, type TokenRow } from '@jadwal/db'
import { DAY, newOrderedId } from '@jadwal/domain'
import { keys, randomFromPool } from '@jadwal/queue'
import { hashToken, newToken } from '@jadwal/runtime'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import { noteChange } from './audit.ts'
import { callerOf } from './caller.ts'
import type { Endpoints } from './endpoints.ts'
import { jsonBody } from './json-body.ts'
import { pathUuid } from './path-uuid.ts'
import { Problem } from './problem.ts'
import { readPageQuery } from './run-query.ts'
import {
  createTokenDoc,
  listTokensDoc,
  revokeTokenDoc,
  type TokenAnswer,
  TokenRequest,
} from './tokens-docs.ts'
import { parseRequest } from './zod-problem.ts'

/** `/tokens`: who may come in with a token of their own. */
export function addTokensRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/tokens', {
    get: { role: 'admin', doc: listTokensDoc, handle: listHandler(deps) },
    post: {
      role: 'admin',
      doc: createTokenDoc,
      audit: 'tokens.create',
      handle: [...jsonBody('16kb'), createHandler(deps)],
    },
  })
  endpoints.add('/tokens/:id', {
    delete: {
      role: 'admin',
      doc: revokeTokenDoc,
      audit: 'tokens.revoke',
      handle: revokeHandler(deps),
    },
  })
}

function listHandler({ db, clock }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const page = readPageQuery(req.query)
    const { items, nextCursor } = await askHistory(() => listTokens(db, page))
    const now = clock.now()
    res.json({ items: items.map((token) => tokenView(token, now)), nextCursor })
  }
}

/** The token itself is in this answer and nowhere else. */
function createHandler(deps: ApiDeps): RequestHandler {
  const { db, clock } = deps
  return async (req, res) => {
    const { name, role, expiresInDays } = parseRequest(TokenRequest, req.body, 'body')
    const now = clock.now()
    const text = newToken()
    const token = {
      id: newOrderedId(now.getTime(), randomFromPool(10)),
      name,
      hash: hashToken(text),
      role,
      created_by: callerOf(res).name,
      created_at: now,
      expires_at:
        expiresInDays === undefined ? null : new Date(now.getTime() + expiresInDays * DAY),
    }
    const outcome = await askHistory(() => createToken(db, token))
    if (outcome === 'name-taken')
      throw new Problem('name-taken', {
        detail: `A live token is called "${name}": take another name, or revoke that one first.`,
      })
    if (outcome === 'too-many')
      throw new Problem('too-many-tokens', {
        detail: `There are ${MOST_LIVE_TOKENS} live tokens, and no more are possible: revoke some.`,
      })
    tell(deps)
    const view = tokenView(
      { ...token, last_used_at: null, revoked_at: null, revoked_by: null },
      now,
    )
    noteChange(res, { subject: `tokens/${token.id}`, before: null, after: view })
    res
      .status(201)
      .location(`/api/v1/tokens/${token.id}`)
      .json({ ...view, token: text })
  }
}

/** A token that is dead already stays as it was; revoking it is no error. */
function revokeHandler(deps: ApiDeps): RequestHandler {
  const { db, clock } = deps
  return async (req, res) => {
    const id = pathUuid(req.params['id'])
    const decision = { by: callerOf(res).name, at: clock.now() }
    const before =
      id === undefined ? undefined : await askHistory(() => revokeToken(db, id, decision))
    if (!before) throw new Problem('not-found', { detail: 'There is no token with this id.' })
    tell(deps)
    const revoked = { revoked_at: decision.at, revoked_by: decision.by }
    const after = before.revoked_at === null ? { ...before, ...revoked } : before
    noteChange(res, {
      before: tokenView(before, decision.at),
      after: tokenView(after, decision.at),
    })
    res.status(204).end()
  }
}

/** This process, at once, and the others, which find out by themselves within 2 s where Redis is away. */
function tell({ tokens, redis, prefix, log }: ApiDeps): void {
  tokens.changed()
  redis.publish(keys.tokensChangedChannel(prefix), 'changed').catch((error: unknown) => {
    log.warn({ err: error }, 'the other apis could not be told that tokens changed')
  })
}

function tokenView(token: Omit<TokenRow, 'hash'>, now: Date): TokenAnswer {
  return {
    id: token.id,
    name: token.name,
    role: token.role,
    state: stateOf(token, now),
    createdBy: token.created_by,
    createdAt: token.created_at.toISOString(),
    expiresAt: token.expires_at?.toISOString() ?? null,
    lastUsedAt: token.last_used_at?.toISOString() ?? null,
    ...(token.revoked_at === null || token.revoked_by === null
      ? {}
      : { revokedAt: token.revoked_at.toISOString(), revokedBy: token.revoked_by }),
  }
}

/** One whose name was given on after it had expired has not been revoked by anybody. */
function stateOf(token: Omit<TokenRow, 'hash'>, now: Date): TokenAnswer['state'] {
  const { expires_at: expiresAt, revoked_at: revokedAt } = token
  if (revokedAt !== null && (expiresAt === null || revokedAt < expiresAt)) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'live'
}
