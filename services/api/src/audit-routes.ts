import { type AuditFilters, type AuditRow, listAudit, type PageRequest } from '@jadwal/db'
import { Role } from '@jadwal/domain'
import type { RequestHandler } from 'express'
import { z } from 'zod'
import { At, listAnswer, pageOf } from './answer-parts.ts'
import type { ApiDeps } from './api-deps.ts'
import type { Endpoints } from './endpoints.ts'
import type { OperationDoc } from './operation.ts'
import { Instant, PageQuery, withoutUndefined } from './run-query.ts'
import { parseRequest } from './zod-problem.ts'

const LONGEST = 500
const Text = z
  .string('must be given once')
  .min(1, 'must not be empty')
  .max(LONGEST, `must have at most ${LONGEST} characters`)
  .regex(/^[^\0]*$/, 'must not have the character U+0000')

const AuditQuery = PageQuery.extend({
  actor: Text.describe('Who acted.').optional(),
  action: Text.describe('Such as `schedules.pause`.').optional(),
  subject: Text.describe(
    'What was acted on, as a path below the api: `schedules/nightly`.',
  ).optional(),
  from: Instant.describe('Done at or after this.').optional(),
  to: Instant.describe('Done before this.').optional(),
})

const EntrySchema = z
  .strictObject({
    id: z.uuid(),
    at: At,
    actor: z.string(),
    role: Role,
    cameBy: z.string().describe('`bootstrap`, `token`, `session` or `nothing`: as in `/me`.'),
    tokenId: z.uuid().nullable(),
    address: z.string().nullable(),
    requestId: z.string().nullable().describe('Finds the request in the log of the api.'),
    action: z.string(),
    subject: z.string().nullable(),
    status: z
      .union([z.int(), z.literal('unknown')])
      .describe('The HTTP status of the answer; `unknown` when the api died before it.'),
    request: z.unknown().describe('What was asked for, without secrets and cut where it is long.'),
    before: z.unknown().describe('How it was before, where that is told.'),
    after: z.unknown().describe('How it is afterwards, likewise.'),
  })
  .meta({ id: 'AuditEntry' })
type Entry = z.infer<typeof EntrySchema>

const EXAMPLE: Entry = {
  id: '0199f3a2-9f00-7b1c-8a5d-2e4f6a8b0c1d',
  at: '2026-11-30T06:00:00.000Z',
  actor: 'ana@example.com',
  role: 'operator',
  cameBy: 'session',
  tokenId: null,
  address: '203.0.113.7',
  requestId: '0b7f9d52-2f4e-4c1b-9f0a-6d1f3a1c9e11',
  action: 'schedules.pause',
  subject: 'schedules/morning-mail',
  status: 200,
  request: { reason: 'maintenance' },
  before: { pause: null },
  after: { pause: { reason: 'maintenance' } },
}

const listAuditDoc: OperationDoc = {
  id: 'listAudit',
  summary: 'Who changed what',
  description:
    'The latest first. An entry can be read a moment after the act, when a recorder has brought it into the history.',
  query: AuditQuery,
  answers: listAnswer(pageOf(EntrySchema), EXAMPLE),
}

/** `/audit`: the audit log. */
export function addAuditRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/audit', {
    get: { role: 'operator', doc: listAuditDoc, handle: listHandler(deps) },
  })
}

function listHandler({ db, searching }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const { limit, cursor, ...filters } = parseRequest(AuditQuery, req.query, 'query')
    const page = withoutUndefined<PageRequest>({ limit, cursor })
    const { items, nextCursor } = await searching(() =>
      listAudit(db, withoutUndefined<AuditFilters>(filters), page),
    )
    res.json({ items: items.map(entryView), nextCursor })
  }
}

function entryView(row: AuditRow): Entry {
  return {
    id: row.id,
    at: row.at.toISOString(),
    actor: row.actor,
    role: row.role,
    cameBy: row.came_by,
    tokenId: row.token_id,
    address: row.address,
    requestId: row.request_id,
    action: row.action,
    subject: row.subject,
    status: row.status ?? 'unknown',
    request: row.request,
    before: row.before,
    after: row.after,
  }
}
