/** What a worker and the test kit make attempts with; no part of what is published. */
export { Attempt, type AttemptEnd } from './attempt.ts'
export { type AttemptInput, checkPayload } from './check-payload.ts'
export { asManyOptions, checkRunPayload } from './check-run.ts'
export type { ChildBatch, ChildOutlet, KnownJob } from './run-children.ts'
export { judgeAttempt } from './judge-attempt.ts'
export { type Mask, maskOf } from './secret-mask.ts'
