import { Role } from '@jadwal/domain'
import { z } from 'zod'
import { At } from './answer-parts.ts'
import { callerOf } from './caller.ts'
import type { Endpoints } from './endpoints.ts'
import type { OperationDoc } from './operation.ts'

const MeSchema = z
  .strictObject({
    name: z.string().describe('What the history and the audit log call you.'),
    role: Role,
    by: z
      .enum(['bootstrap', 'token', 'session', 'nothing'])
      .describe(
        'How you came in: with `JADWAL_ADMIN_TOKEN` or `JADWAL_VIEWER_TOKEN`, with a token, with the cookie of a session, or without any, as `JADWAL_AUTH=off` allows.',
      ),
    tokenId: z.uuid().optional(),
    endsAt: At.optional().describe('When the token or the session ends.'),
  })
  .meta({ id: 'Me' })

const meDoc: OperationDoc = {
  id: 'getMe',
  summary: 'Who you are',
  answers: {
    200: {
      description: 'Your name and role.',
      schema: MeSchema,
      example: {
        name: 'ci-deploy',
        role: 'operator',
        by: 'token',
        tokenId: '0199f3a2-6b1e-7d44-9a2b-1c3d5e7f9a0b',
        endsAt: '2027-02-28T06:00:00.000Z',
      },
    },
  },
}

/** `/me`: who one is, for those who have a token and wonder. */
export function addMeRoute(endpoints: Endpoints): void {
  endpoints.add('/me', {
    get: {
      role: 'viewer',
      doc: meDoc,
      handle: (_req, res) => {
        const { endsAt, ...caller } = callerOf(res)
        res.json({ ...caller, ...(endsAt ? { endsAt: endsAt.toISOString() } : {}) })
      },
    },
  })
}
