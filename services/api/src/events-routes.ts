import { EVENT_TYPES, RUN_EVENT_TYPES } from '@jadwal/domain'
import { type EventPosition, readPosition } from '@jadwal/queue'
import type { Request, RequestHandler } from 'express'
import { z } from 'zod'
import type { ApiDeps } from './api-deps.ts'
import { type Caller, callerOf } from './caller.ts'
import type { Endpoints } from './endpoints.ts'
import { type EventFilter, typesOf } from './event-filter.ts'
import type { OperationDoc } from './operation.ts'
import { fieldProblem } from './problem.ts'
import { Name } from './run-query.ts'
import { parseRequest } from './zod-problem.ts'

const TYPES_RULE = `must be types with commas between them, each one of ${[...EVENT_TYPES, ...RUN_EVENT_TYPES].join(', ')}, all of a kind such as run.*, or *`
const ID_RULE = 'must be the id of an event of this stream, such as 1796018400000-0_0-0'

const Position = z
  .string('must be given once')
  .refine((text) => readPosition(text) !== undefined, ID_RULE)
  .transform((text): EventPosition => readPosition(text) ?? { events: '0-0', runs: '0-0' })

const EventsQuery = z.strictObject({
  types: z
    .string('must be given once')
    .max(1_000, 'must have at most 1000 characters')
    .refine((text) => typesOf(text.split(',')) !== undefined, TYPES_RULE)
    .meta({ examples: ['run.*,tick.late'] })
    .describe(
      'Types with commas between them; `run.*` for all of a kind, `*` for all. Without it, those that are kept whether anybody listens or not.',
    )
    .optional(),
  job: Name.optional(),
  queue: Name.optional(),
  schedule: Name.optional(),
  lastEventId: Position.describe(
    'Goes on behind this event; for clients that can not set the header `Last-Event-ID`, which goes before it.',
  ).optional(),
})

const EXAMPLE = `retry: 2000

event: run.dead
id: 1796018400123-0_0-0
data: {"at":"2026-11-30T06:00:00.123Z","id":"0199f3a2-8d11-7a02-9b3e-5a1c0d9e7f21","job":"email.send","queue":"emails","state":"dead","reason":"failed"}

: heartbeat
id: 1796018400123-0_0-0

`

const eventsDoc: OperationDoc = {
  id: 'streamEvents',
  summary: 'Events as they happen',
  description:
    'Server-sent events, without an end. Each has a type, an id and its data as JSON. After a lost connection the stream goes on behind `Last-Event-ID`; where events are missing, because they are not kept any more or the client read too slowly, an event `gap` says so. A comment comes each 15 s.',
  query: EventsQuery,
  headers: z.object({ 'last-event-id': z.string().optional() }),
  answers: {
    200: { description: 'The stream.', type: 'text/event-stream', example: EXAMPLE },
  },
  problems: ['too-many-streams', 'redis-unavailable'],
}

/** `/events`: what happens, as it happens. */
export function addEventsRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/events', {
    get: { role: 'viewer', doc: eventsDoc, handle: eventsHandler(deps) },
  })
}

function eventsHandler({ events, tokens, clock }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const request = readRequest(req)
    if (req.method === 'HEAD') return void res.type('text/event-stream').end()
    const caller = callerOf(res)
    await events.serve(res, {
      ...request,
      caller,
      mayListen: () => isStillLetIn(caller, { tokens, clock }),
    })
  }
}

/** Whether the token or the session that somebody came in with is good as yet. Throws when nobody can tell. */
async function isStillLetIn(
  { tokenId, endsAt }: Caller,
  { tokens, clock }: Pick<ApiDeps, 'tokens' | 'clock'>,
): Promise<boolean> {
  if (endsAt && endsAt <= clock.now()) return false
  return tokenId === undefined || (await tokens.findById(tokenId)) !== undefined
}

function readRequest(req: Request): { filter: EventFilter; after: EventPosition | undefined } {
  const { types, lastEventId, ...names } = parseRequest(EventsQuery, req.query, 'query')
  const header = req.get('last-event-id')
  const fromHeader = header === undefined || header === '' ? undefined : readPosition(header)
  if (header && !fromHeader) throw fieldProblem('bad-request', 'Last-Event-ID', ID_RULE)
  const wanted = types === undefined ? new Set<string>(EVENT_TYPES) : typesOf(types.split(','))
  return { filter: { types: wanted ?? new Set(), ...names }, after: fromHeader ?? lastEventId }
}
