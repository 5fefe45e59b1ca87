import type { JobDescription, WorkerInfo } from '@jadwal/domain'
import type { Position, WaitingRun } from '@jadwal/queue'

/** Why a run has not been started, or what has become of it. */
export interface Reason {
  kind: ReasonKind
  /** For people: one sentence. */
  message: string
  /** What would change it; absent where only time does, or nothing has to. */
  help?: string
  data: Record<string, unknown>
}

/** In the order in which they are told: what most likely holds a run up goes first. */
export const REASON_KINDS = [
  'ended',
  'running',
  'worker-lost',
  'cancel-asked',
  'queue-paused',
  'no-worker',
  'delayed',
  'retrying',
  'behind-others',
  'workers-busy',
  'key-limit',
  'rate-limited',
  'fuse-open',
  'unknown-form',
  'unknown-job',
  'killed-workers',
  'overlap',
  'redis-full',
  'message-lost',
  'next',
] as const
export type ReasonKind = (typeof REASON_KINDS)[number]

/** All that reasons are made of. */
export interface Situation {
  queue: string
  message: WaitingRun
  workers: readonly WorkerInfo[]
  /** The job as workers have published it last. */
  job: JobDescription | undefined
  nowMs: number
  /** Whether Redis is so full of facts on their way that workers take no runs. */
  workersHold: boolean
}

/** A reason, where it holds. */
export type Rule = (situation: Situation) => Reason | undefined

/** It could be taken right now. What is due lies in `delayed` until a worker asks for its next run. */
export function waitsForHand({ message, nowMs }: Situation): boolean {
  const { place, dueAtMs = Infinity } = message
  return place === 'wait' || place === 'prioritized' || (place === 'delayed' && dueAtMs <= nowMs)
}

export function shownPosition({ atLeast, atMost }: Position): string {
  if (atLeast === atMost) return atMost === 1 ? '1 run' : `${atMost} runs`
  return `${atLeast} to ${atMost} runs`
}
