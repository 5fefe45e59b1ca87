import { Role } from '@jadwal/domain'
import { z } from 'zod'
import { At, listAnswer, pageOf } from './answer-parts.ts'
import { ADMIN, VIEWER } from './bootstrap-callers.ts'
import type { OperationDoc } from './operation.ts'
import { PageQuery } from './run-query.ts'

const MOST_DAYS = 3_650
const DAYS_RULE = `must be a whole number from 1 to ${MOST_DAYS}`
const NAME_RULE = 'must match [a-z0-9][a-z0-9._-]{0,99}'
/** What those are called who have no token of this name. */
const RESERVED: ReadonlySet<string> = new Set([ADMIN.name, VIEWER.name, 'local', 'metrics'])

export const TokenRequest = z.strictObject({
  name: z
    .string(NAME_RULE)
    .regex(/^[a-z0-9][a-z0-9._-]{0,99}$/, NAME_RULE)
    .refine(
      (name) => !RESERVED.has(name),
      `must not be one of ${[...RESERVED].join(', ')}: those are taken`,
    )
    .describe('Who acts with it: so it stands in the history and in the audit log.'),
  role: z.enum(Role.options, `must be one of ${Role.options.join(', ')}`),
  expiresInDays: z
    .int(DAYS_RULE)
    .min(1, DAYS_RULE)
    .max(MOST_DAYS, DAYS_RULE)
    .describe('It never expires when left out.')
    .optional(),
})

const TokenSchema = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    role: Role,
    state: z.enum(['live', 'expired', 'revoked']),
    createdBy: z.string(),
    createdAt: At,
    expiresAt: At.nullable(),
    lastUsedAt: At.nullable().describe('To the minute.'),
    revokedAt: At.optional(),
    revokedBy: z.string().optional(),
  })
  .meta({ id: 'Token' })
export type TokenAnswer = z.infer<typeof TokenSchema>

const EXAMPLE: TokenAnswer = {
  id: '0199f3a2-6b1e-7d44-9a2b-1c3d5e7f9a0b',
  name: 'ci-deploy',
  role: 'operator',
  state: 'live',
  createdBy: 'admin',
  createdAt: '2026-11-30T06:00:00.000Z',
  expiresAt: '2027-02-28T06:00:00.000Z',
  lastUsedAt: '2026-11-30T06:05:00.000Z',
}
const TokenParams = z.object({
  id: z.uuid().meta({ description: 'The id of a token.', examples: [EXAMPLE.id] }),
})

export const listTokensDoc: OperationDoc = {
  id: 'listTokens',
  summary: 'List tokens',
  description: 'The latest first, those that are revoked or have expired too; never what they are.',
  query: PageQuery,
  answers: listAnswer(pageOf(TokenSchema), EXAMPLE),
}

export const createTokenDoc: OperationDoc = {
  id: 'createToken',
  summary: 'Make a token',
  description: 'The answer has the token, which can be seen this once: only its hash is kept.',
  body: {
    schema: TokenRequest,
    example: { name: 'ci-deploy', role: 'operator', expiresInDays: 90 },
  },
  answers: {
    201: {
      description: 'The token.',
      schema: TokenSchema.extend({ token: z.string() }).meta({ id: 'NewToken' }),
      example: {
        ...EXAMPLE,
        lastUsedAt: null,
        token: 'jdw_EXAMPLE-not-a-token-EXAMPLE-not-a-token-EXAM',
      },
      headers: { Location: 'Where it can be revoked.' },
    },
  },
  problems: ['name-taken', 'too-many-tokens'],
}

export const revokeTokenDoc: OperationDoc = {
  id: 'revokeToken',
  summary: 'Revoke a token',
  description:
    'It is good no longer from the answer on; at other apis within two seconds. Sessions made of it end with it. The values of `JADWAL_ADMIN_TOKEN` and `JADWAL_VIEWER_TOKEN` are not among these and cannot be revoked.',
  params: TokenParams,
  answers: { 204: { description: 'It is revoked.' } },
}
