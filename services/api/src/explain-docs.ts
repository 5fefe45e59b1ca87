import { RunState } from '@jadwal/domain'
import { z } from 'zod'
import { REASON_KINDS } from './reason.ts'
import type { OperationDoc } from './operation.ts'

const Explanation = z
  .strictObject({
    id: z.uuid(),
    job: z.string(),
    queue: z.string(),
    state: RunState,
    asOf: z.iso.datetime(),
    reasons: z.array(
      z.strictObject({
        kind: z.enum(REASON_KINDS),
        message: z.string().describe('One sentence, for people.'),
        help: z.string().optional().describe('What would change it.'),
        data: z.record(z.string(), z.unknown()).describe('What the sentence says, for programs.'),
      }),
    ),
  })
  .meta({ id: 'Explanation', description: 'Why a run has not been started.' })

const ID = '01938a5c-3b1e-7c44-9d57-0f8a5d1b2c3d'

export const explainDoc: OperationDoc = {
  summary: 'Why a run has not been started',
  description:
    'All reasons that hold right now, the likeliest first. Of a run that is in hand, or has ended, it tells that. What it costs is bounded however many runs wait: of a place far from both ends of a long queue it says between which numbers it lies.',
  params: z.object({
    id: z.uuid().meta({ description: 'The id of a run.', examples: [ID] }),
  }),
  answers: {
    200: {
      description: 'The reasons; never none.',
      schema: Explanation,
      example: {
        id: ID,
        job: 'email.send',
        queue: 'emails',
        state: 'queued',
        asOf: '2026-11-30T06:00:00.000Z',
        reasons: [
          {
            kind: 'queue-paused',
            message: 'The queue emails was paused by ana at 2026-11-30T05:00:00.000Z.',
            help: 'Resume it: POST /api/v1/queues/emails/resume',
            data: { queue: 'emails', by: 'ana', at: '2026-11-30T05:00:00.000Z' },
          },
        ],
      },
    },
  },
  problems: ['not-found'],
}
