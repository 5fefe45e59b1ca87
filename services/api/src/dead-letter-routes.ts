import {
  type DeadLetterGroup,
  listDeadLetterGroups,
  listDeadLetters,
  listUnsettledIds,
  runView,
} from '@jadwal/db'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import { noteChange } from './audit.ts'
import { callerOf } from './caller.ts'
import {
  discardLettersDoc,
  type GroupAnswer,
  groupLettersDoc,
  listLettersDoc,
} from './dead-letter-docs.ts'
import { readDiscardRequest, readGroupQuery, readLetterQuery } from './dead-letter-request.ts'
import type { Endpoints } from './endpoints.ts'
import { jsonBody } from './json-body.ts'
import { decodePosition, encodePosition } from './letter-cursor.ts'
import { discardById } from './settle-by-id.ts'

/** Letters that one call discards at most. */
const DISCARDED_AT_ONCE = 1_000

/** `/dead-letters`: search them, see what they died of, and discard them. */
export function addDeadLetterRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/dead-letters', {
    get: { role: 'viewer', doc: listLettersDoc, handle: listHandler(deps) },
  })
  endpoints.add('/dead-letters/groups', {
    get: { role: 'viewer', doc: groupLettersDoc, handle: groupsHandler(deps) },
  })
  endpoints.add('/dead-letters/discard', {
    post: {
      role: 'operator',
      doc: discardLettersDoc,
      handle: [...jsonBody('128kb'), discardHandler(deps)],
    },
  })
}

function listHandler({ db, searching, shownRuns }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const { filters, page } = readLetterQuery(req.query)
    const { items, nextCursor } = await searching(() => listDeadLetters(db, filters, page))
    const views = items.map(({ run, attempts, settled }) => runView(run, attempts, settled))
    res.json({ items: await shownRuns.forCaller(res, views), nextCursor })
  }
}

/** Each letter of the period is read, so without `from` it is a week; the answer tells since when. */
function groupsHandler({ db, searching }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const { filters, page } = readGroupQuery(req.query)
    const { items, nextCursor, from } = await searching(() =>
      listDeadLetterGroups(db, filters, page),
    )
    const view = items.map((group) => groupView(group))
    res.json({ from: from.toISOString(), items: view, nextCursor })
  }
}

/** By ids each is answered for; by a filter a page of letters is discarded, oldest first. */
function discardHandler(deps: ApiDeps): RequestHandler {
  const { db, deadLetters, clock } = deps
  return async (req, res) => {
    const { which, reason, cursor } = readDiscardRequest(req.body)
    const decision = { by: callerOf(res).name, reason }
    if ('ids' in which) {
      const { items, before } = await discardById(deps, which.ids, decision)
      noteChange(res, { before: { items: before }, after: { items } })
      res.json({ items, nextCursor: null })
      return
    }
    const position = cursor === undefined ? undefined : decodePosition(cursor)
    const before = position?.before ?? clock.now()
    const { to = before } = which.filters
    const filters = { ...which.filters, to: to < before ? to : before }
    const rows = await askHistory(() =>
      listUnsettledIds(db, filters, { after: position?.after, limit: DISCARDED_AT_ONCE }),
    )
    const letters = rows.map(({ id, queue }) => ({ id, queue }))
    const results = await deadLetters.discard(letters, decision)
    const last = rows.length === DISCARDED_AT_ONCE ? rows.at(-1) : undefined
    const discarded = results.filter((result) => result.discarded && result.isNew).length
    noteChange(res, { after: { discarded } })
    res.json({
      discarded,
      nextCursor: last ? encodePosition(last, before) : null,
    })
  }
}

function groupView(group: DeadLetterGroup): GroupAnswer {
  const { fingerprint, job, queue, error, message, count, first_at, last_at, example } = group
  const [firstAt, lastAt] = [first_at.toISOString(), last_at.toISOString()]
  return { fingerprint, job, queue, error, message, count, firstAt, lastAt, example }
}
