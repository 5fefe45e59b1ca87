export {
  leaderConnection,
  openRedis,
  producerConnection,
  redisReady,
  workerConnection,
} from './connections.ts'
export {
  createProducer,
  type Enqueued,
  type EnqueueManyOptions,
  type Producer,
  type ProducerDeps,
} from './enqueue.ts'
export type { EnqueueOptions, RunRequest } from './run-draft.ts'
export { MAX_PAYLOAD_BYTES, PAYLOAD_LIMITS } from './payload-limit.ts'
export { Patience } from './patience.ts'
export { clientIdProblem } from './client-id.ts'
export { RunFollower } from './run-follower.ts'
export { randomFromPool } from './random-pool.ts'
export {
  IdempotencyConflictError,
  LeaseLostError,
  InvalidRunError,
  MissingKeyError,
  PayloadTooLargeError,
  RedisUnavailableError,
  TryLaterError,
  UnreadableEnvelopeError,
} from './errors.ts'
export type { EncryptionKey } from './encryption-key.ts'
export { cipherOf, encryptionKeysEnv, readEncryptionKeys } from './encryption-keys.ts'
export { PayloadCipher, type Sealed } from './payload-cipher.ts'
export { openedValue } from './opened-value.ts'
export { openPayload, sentPayload } from './sent-payload.ts'
export * as keys from './keys.ts'
export { memoryUse, outboxShare, WORKERS_STOP_AT } from './memory-watch.ts'
export { isRedisError } from './redis-errors.ts'
export { isRedisTrouble } from './redis-trouble.ts'
export { redisUrlEnv, redisUrlProblem } from './redis-url.ts'
export {
  findJob,
  type Leader,
  listQueues,
  publishCatalogue,
  readCatalogue,
  readLeader,
  readWorkers,
  registerQueues,
} from './registry.ts'
export { type RunMessageOptions, runMessageOptions } from './run-message.ts'
export { scheduledRun } from './scheduled-run.ts'
export { alarmId, Alarms, type AlarmsOptions } from './alarms.ts'
export {
  type FireRequest,
  FiringQueue,
  type LastTexts,
  type PlannedRun,
  type PreparedFiring,
  type TickPlan,
} from './firing-queue.ts'
export type { LastTick } from './last-tick.ts'
export { Lease, type LeaseOptions, type Reign, type TakeResult } from './lease.ts'
export { RedisClock } from './redis-clock.ts'
export { readHomes, writeHomes } from './homes.ts'
export {
  type CancelDeps,
  type CancelReason,
  type CancelResult,
  cancelRun,
  cancelWaitingRun,
  carryOutCancels,
} from './cancel-run.ts'
export {
  createTrigger,
  type Trigger,
  type TriggerRequest,
  type TriggerResult,
} from './trigger-run.ts'
export { CancelWatch, type CancelWatchOptions } from './cancel-watch.ts'
export { livingRuns } from './living-runs.ts'
export { type AlertSnapshot, takeAlertSnapshot } from './alert-snapshot.ts'
export { AlertStore, readAlerts } from './alert-store.ts'
export {
  appendEvents,
  appendRunEvents,
  areRunEventsWanted,
  type JadwalEvent,
  type RunEvent,
  wantRunEvents,
} from './events.ts'
export {
  type EventEntry,
  type EventPosition,
  EventReader,
  isGap,
  readPosition,
  writePosition,
} from './event-reader.ts'
export { tellWorkers } from './tell-workers.ts'
export { appendAudit } from './append-audit.ts'
export { askToStepDown } from './step-down.ts'
export { subscribe } from './subscribe.ts'
export { DeadLetter, Death } from './dead-letter.ts'
export type { FuseChange } from './fuse-change.ts'
export { mendFuses } from './fuse-net.ts'
export { type FuseView, readFuses } from './fuse-view.ts'
export { type FusedJob, FuseWatch } from './fuse-watch.ts'
export { announceRunning } from './run-announcer.ts'
export type { RunEnd } from './run-end.ts'
export { runError } from './run-error.ts'
export { resultText } from './run-result.ts'
export { StartedRun } from './run-start.ts'
export { suspectSlot } from './suspect-slot.ts'
export { RunWorker, type RunWorkerOptions } from './run-worker.ts'
export type { LotDeps, RunInHand } from './run-in-hand.ts'
export type { Admission } from './admission.ts'
export { keyLot, takeSlot } from './key-slot.ts'
export { readRedisHealth } from './redis-health.ts'
export { readWorkHealth } from './work-health.ts'
export { findLock, type HeldLock, type HeldLocks, listLocks } from './held-locks.ts'
export { type LockRelease, releaseLock } from './release-lock.ts'
export { LotTender } from './tend-lots.ts'
export { sweepFailed, type SweepDeps } from './sweep-failed.ts'
export { workWaits } from './work-waits.ts'
export { publishHeartbeat, removeHeartbeat } from './worker-heartbeat.ts'
export { openCorkedRedis } from './corked-redis.ts'
export { findRunInRedis, type FoundRun, readMessage } from './find-run.ts'
export { idsWithMessage, unclaimed } from './known-ids.ts'
export {
  countQueues,
  countTermsOutbox,
  type MessageState,
  type QueueCounts,
} from './queue-counts.ts'
export { type OutboxEntry, OutboxReader, type OutboxReaderOptions } from './outbox-reader.ts'
export { deadLetterFields } from './dead-letter.ts'
export { endLostRun, type LostRun, oldestFactMs, runsWithoutMessage } from './lost-runs.ts'
export { putBackLostRun, type RunToPutBack } from './put-back-lost-run.ts'
export { trimDeadLetters, trimRejected } from './trim-dead-letters.ts'
export { createDeadLetters, type DeadLetters, type DeadLettersDeps } from './dead-letters.ts'
export type { DiscardResult } from './discard-letters.ts'
export type {
  LetterToRedrive,
  RedriveRefusal,
  RedriveRequest,
  RedriveResult,
} from './redrive-letters.ts'
export { type Decision, findDecision, locateLetters } from './read-letters.ts'
export type { DeadRunCopy, RedrivenJob } from './redriven-run.ts'
export { type Lot, type Position, readWaitingRun, type WaitingRun } from './waiting-run.ts'
export { promoteRun, type Promotion } from './promote-run.ts'
export {
  pauseQueue,
  type QueuePause,
  type QueuePauseState,
  readQueuePause,
  resumeQueue,
} from './queue-pause.ts'
export { retryNow } from './retry-now.ts'
export {
  checkScheduledJobs,
  plainlyEncrypted,
  type ScheduledJob,
  type ScheduledJobProblem,
} from './check-scheduled-jobs.ts'
export { payloadHash } from './canonical-json.ts'
export { PayloadCheck, type PayloadProblem } from './payload-check.ts'
export { listNewestLiving, type LivingRun } from './newest-living.ts'
