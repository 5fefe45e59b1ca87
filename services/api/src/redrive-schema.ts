import { RunState } from '@jadwal/domain'
import { z } from 'zod'
import { At, listAnswer, pageOf, RedriveParams } from './answer-parts.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'
import { PageQuery } from './run-query.ts'

/** A redrive as the api shows it. */
export const RedriveSchema = z
  .strictObject({
    id: z.uuid(),
    state: z.enum(['running', 'paused', 'cancelled', 'stopped', 'done']),
    filter: z.looseObject({}).describe('Which letters it is for.'),
    rate: z.number().nullable().describe('Runs a second; null without a limit.'),
    canary: z.boolean(),
    step: z.int().optional().describe('Of a canary: 0 one letter, 1 ten, 2 the rest.'),
    letters: z.int().nullable().describe('How many there were when it was asked for.'),
    redriven: z.int().optional().describe('How many have their new run.'),
    runs: z
      .partialRecord(RunState, z.int())
      .nullable()
      .optional()
      .describe('Its runs by state; null when they are too many to be counted.'),
    refused: z.int().describe('Letters that it could not redrive.'),
    problem: z.string().optional(),
    returned: z
      .strictObject({ run: z.uuid(), fingerprint: z.string().nullable() })
      .optional()
      .describe('Of a canary that stopped: the run that died of the same cause.'),
    author: z.string(),
    createdAt: At,
    finishedAt: At.nullable(),
  })
  .meta({ id: 'Redrive', description: 'What makes new runs of many dead letters.' })
export type RedriveAnswer = z.infer<typeof RedriveSchema>

const REDRIVE_EXAMPLE: RedriveAnswer = {
  id: EXAMPLE.redrive,
  state: 'running',
  filter: { job: 'email.send' },
  rate: 50,
  canary: false,
  letters: 12_000,
  refused: 0,
  author: 'admin',
  createdAt: EXAMPLE.at,
  finishedAt: null,
}

export const listRedrivesDoc: OperationDoc = {
  id: 'listRedrives',
  summary: 'Redrives, the latest first',
  query: PageQuery,
  answers: listAnswer(pageOf(RedriveSchema), REDRIVE_EXAMPLE),
}

export const readRedriveDoc: OperationDoc = {
  id: 'getRedrive',
  summary: 'Look at a redrive',
  params: RedriveParams,
  answers: {
    200: {
      description: 'The redrive.',
      schema: RedriveSchema,
      example: { ...REDRIVE_EXAMPLE, redriven: 40, runs: { succeeded: 38, running: 2 } },
    },
  },
}

/** `act` is said of a redrive, and `state` is what it becomes. */
export function changeRedriveDoc(act: 'pause' | 'resume' | 'cancel'): OperationDoc {
  const state = { pause: 'paused', resume: 'running', cancel: 'cancelled' } as const
  const finishedAt = act === 'cancel' ? EXAMPLE.later : null
  return {
    id: `${act}Redrive`,
    summary: `${act.charAt(0).toUpperCase()}${act.slice(1)} a redrive`,
    description: 'Asking for what is so already changes nothing.',
    params: RedriveParams,
    answers: {
      200: {
        description: 'The redrive, as it is then.',
        schema: RedriveSchema,
        example: { ...REDRIVE_EXAMPLE, state: state[act], finishedAt },
      },
    },
    problems: ['redrive-ended'],
  }
}
