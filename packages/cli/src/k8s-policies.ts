import { DAY, SECOND } from '@jadwal/domain'
import type { YamlMap } from './yaml-map.ts'

/** What Kubernetes does where a CronJob says nothing. */
export const K8S_DEFAULTS = {
  overlap: 'allow',
  // backoffLimit is 6.
  attempts: 7,
  // A Job may run for ever; a day is nearly that.
  timeoutMs: DAY,
  // At a clock change Kubernetes drops what falls into the gap and fires twice in the fold.
  dst: { gap: 'skip', fold: 'twice' },
}

export interface Policies {
  fields: Record<string, unknown>
  notes: string[]
}

const OVERLAPS: Record<string, string> = {
  Forbid: 'skip',
  Allow: 'allow',
  Replace: 'cancel-running',
}

/** Overlap, pause and misfire of a CronJob's spec. */
export function readCronJobPolicies(spec: YamlMap): Record<string, unknown> {
  const policy = spec.text('concurrencyPolicy')
  if (policy !== undefined && !Object.hasOwn(OVERLAPS, policy))
    throw spec.wrong('concurrencyPolicy', 'must be Allow, Forbid or Replace')
  const deadline = spec.count('startingDeadlineSeconds')
  return {
    ...(policy === undefined ? {} : { overlap: OVERLAPS[policy] }),
    ...(deadline === undefined ? {} : { misfire: misfire(deadline) }),
    ...(spec.flag('suspend') === true ? { paused: true } : {}),
  }
}

const AFTER_SECONDS = 60

/** By itself a tick becomes a misfire after a minute: a shorter deadline must shorten that too. */
function misfire(deadlineSeconds: number): Record<string, unknown> {
  const within = `${Math.max(1, deadlineSeconds)}s`
  return { policy: 'once', ...(deadlineSeconds < AFTER_SECONDS ? { after: within } : {}), within }
}

const MOST_ATTEMPTS = 1_000
const LONGEST = 7 * DAY

/** Attempts and timeout of a Job's spec and its pod's. */
export function readJobPolicies(job: YamlMap, pod: YamlMap): Policies {
  const backoffLimit = job.count('backoffLimit')
  const jobSeconds = job.count('activeDeadlineSeconds')
  const podSeconds = pod.count('activeDeadlineSeconds')
  const attempts = backoffLimit === undefined ? undefined : backoffLimit + 1
  const seconds = podSeconds ?? jobSeconds
  return {
    fields: {
      ...(attempts === undefined ? {} : { attempts: Math.min(attempts, MOST_ATTEMPTS) }),
      ...(seconds === undefined ? {} : { timeoutMs: Math.min(seconds * SECOND, LONGEST) }),
    },
    notes: [
      attempts !== undefined &&
        attempts > MOST_ATTEMPTS &&
        `backoffLimit ${backoffLimit} became ${MOST_ATTEMPTS} attempts, the most that Jadwal makes`,
      seconds !== undefined &&
        seconds * SECOND > LONGEST &&
        `activeDeadlineSeconds ${seconds} became 7 days, the longest timeout`,
      jobSeconds !== undefined &&
        podSeconds !== undefined &&
        `activeDeadlineSeconds of the pod (${podSeconds}) became the timeout, that of the Job (${jobSeconds}) has no counterpart`,
    ].filter((note) => note !== false),
  }
}
