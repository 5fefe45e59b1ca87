import { z } from 'zod'

const Text = z.string().nullish()

const Failure = z.looseObject({ name: Text, message: Text, stack: Text }).nullish()

const Attempt = z.looseObject({
  attempt: z.number(),
  state: z.string(),
  worker: Text,
  startedAt: Text,
  finishedAt: Text,
  error: Failure,
  log: z.array(z.looseObject({ at: Text, level: Text, message: Text })).nullish(),
})

/** A run, as far as it is shown here. */
export const RunAnswer = z.looseObject({
  id: z.string(),
  job: z.string(),
  queue: z.string(),
  state: z.string(),
  reason: Text,
  payload: z.unknown().optional(),
  result: z.unknown().optional(),
  progress: z.unknown().optional(),
  error: Failure,
  schedule: Text,
  tickAt: Text,
  tickUntil: Text,
  tickCount: z.number().nullish(),
  term: z.number().nullish(),
  redriveOf: Text,
  redrivenAs: Text,
  discarded: z.looseObject({ at: Text, by: Text, reason: Text }).nullish(),
  backfillId: Text,
  parentId: Text,
  lateDueAt: Text,
  lateAt: Text,
  idempotencyKey: Text,
  concurrencyKey: Text,
  fingerprint: Text,
  labels: z.record(z.string(), z.string()).nullish(),
  priority: z.number().nullish(),
  enqueuedAt: Text,
  runAt: Text,
  startedAt: Text,
  finishedAt: Text,
  attempts: z.array(Attempt).default([]),
})
export type RunAnswer = z.infer<typeof RunAnswer>

const ENDED = new Set(['succeeded', 'dead', 'cancelled', 'skipped'])

export function isOver(state: string): boolean {
  return ENDED.has(state)
}

/** What went wrong, on one line. */
export function errorText(error: RunAnswer['error']): string {
  if (error == null) return ''
  return error.name == null ? (error.message ?? '') : `${error.name}: ${error.message ?? ''}`
}
