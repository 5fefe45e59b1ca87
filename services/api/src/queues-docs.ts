import { z } from 'zod'
import { PauseOfQueue, QueueSchema } from './catalogue-schema.ts'
import type { OperationDoc } from './operation.ts'
import { Reason } from './schedule-query.ts'

export const PauseQueueBody = z.strictObject({
  reason: Reason.optional().describe('Why, for people.'),
})

const Params = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,99}$/)
    .meta({ description: 'The name of a queue.', examples: ['emails'] }),
})

const QueuePauseAnswer = z
  .strictObject({
    name: z.string(),
    paused: z.boolean(),
    pause: PauseOfQueue,
    warnings: z.array(z.string()).describe('What follows that one may not think of.'),
  })
  .meta({ id: 'QueuePause', description: 'How a queue stands after it was paused or resumed.' })

const PAUSE = { by: 'ana', at: '2026-11-30T06:00:00.000Z', reason: 'the mail server moves' }

export const readQueueDoc: OperationDoc = {
  summary: 'Look at a queue',
  description: 'What lies where in it right now, and whether it is paused.',
  params: Params,
  answers: {
    200: {
      description: 'The queue.',
      schema: QueueSchema,
      example: {
        name: 'emails',
        counts: { waiting: 3, prioritized: 0, delayed: 1, active: 0, failed: 0, completed: 0 },
        deadLetters: 0,
        paused: true,
        pause: PAUSE,
        oldestWaitingSeconds: 12.5,
        outboxDepth: 0,
      },
    },
  },
  problems: ['not-found'],
}

export const pauseQueueDoc: OperationDoc = {
  summary: 'Pause the runs of a queue',
  description:
    'No worker takes a run of the queue until it is resumed; runs in hand go on. Schedules go on firing into it, and producers enqueue: what they add waits. A queue that is paused already keeps its first pause. `ticks` and dead letters can not be paused.',
  params: Params,
  body: { schema: PauseQueueBody, example: { reason: PAUSE.reason }, isOptional: true },
  answers: {
    200: {
      description: 'The queue is paused.',
      schema: QueuePauseAnswer,
      example: { name: 'emails', paused: true, pause: PAUSE, warnings: [] },
    },
  },
  problems: ['not-found', 'reserved-queue'],
}

export const resumeQueueDoc: OperationDoc = {
  summary: 'Resume the runs of a queue',
  description: 'Workers take its runs again. A queue that is not paused stays as it is.',
  params: Params,
  body: { schema: z.strictObject({}), example: {}, isOptional: true },
  answers: {
    200: {
      description: 'The queue is not paused.',
      schema: QueuePauseAnswer,
      example: { name: 'emails', paused: false, pause: null, warnings: [] },
    },
  },
  problems: ['not-found', 'reserved-queue'],
}
