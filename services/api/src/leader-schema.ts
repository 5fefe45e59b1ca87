import { TermEnd } from '@jadwal/domain'
import { z } from 'zod'
import { At, listAnswer, pageOf } from './answer-parts.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'
import { PageQuery } from './run-query.ts'

export const LeaderSchema = z
  .strictObject({
    instance: z.string().describe('The scheduler that leads.'),
    term: z.int().describe('The number of its reign; it only grows.'),
    since: At,
  })
  .meta({ id: 'Leader' })
export type LeaderAnswer = z.infer<typeof LeaderSchema>

export const TermSchema = z
  .strictObject({
    term: z.int(),
    instance: z.string(),
    from: At,
    until: At.nullable(),
    reason: TermEnd.nullable().describe('Why it ended.'),
  })
  .meta({ id: 'Term', description: 'The reign of a leader.' })
export type TermAnswer = z.infer<typeof TermSchema>

const TERM = 1_795_931_000_000
const LEADER_EXAMPLE: LeaderAnswer = { instance: EXAMPLE.scheduler, term: TERM, since: EXAMPLE.at }
const TERM_EXAMPLE: TermAnswer = {
  term: TERM,
  instance: EXAMPLE.scheduler,
  from: EXAMPLE.at,
  until: null,
  reason: null,
}

export const readLeaderDoc: OperationDoc = {
  id: 'getLeader',
  summary: 'Who leads',
  answers: {
    200: { description: 'The leader.', schema: LeaderSchema, example: LEADER_EXAMPLE },
  },
  problems: ['not-found'],
}

export const listTermsDoc: OperationDoc = {
  id: 'listTerms',
  summary: 'Who led, the latest first',
  query: PageQuery,
  answers: listAnswer(pageOf(TermSchema), TERM_EXAMPLE),
}

export const stepDownDoc: OperationDoc = {
  id: 'stepDown',
  summary: 'Let another scheduler lead',
  description: 'Waits up to five seconds for the next leader, and answers with it.',
  answers: {
    200: { description: 'The next leader.', schema: LeaderSchema, example: LEADER_EXAMPLE },
  },
  problems: ['no-leader', 'no-successor'],
}
