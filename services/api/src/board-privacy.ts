import { ENCRYPTED, type JobDescription, keptPayload, RunMessage } from '@jadwal/domain'
import { z } from 'zod'
import { maskOf } from './mask-texts.ts'

/** A field of a message that is longer as JSON is cut; a large one freezes the page. */
const LONGEST_FIELD = 20_000
const HIDDEN = '[hidden]'

/** What of BullMQ's options says nothing but how a run is made. */
const SHOWN_OPTIONS = ['attempts', 'delay', 'priority', 'timestamp', 'backoff', 'jobId']

/** A message as Bull Board shows it, as far as it can carry what is not for everybody's eyes. */
const ShownMessage = z.looseObject({
  name: z.string(),
  data: z.unknown(),
  opts: z.record(z.string(), z.unknown()).catch({}),
  progress: z.unknown(),
  returnValue: z.unknown(),
  failedReason: z.unknown(),
  stacktrace: z.unknown(),
})

/**
 * A message as everybody may see it: payloads without what its job redacts, nothing of what is encrypted,
 * and nothing at all of a job that no worker has published, of which nobody knows what is secret.
 */
export function showMessage(message: unknown, jobs: ReadonlyMap<string, JobDescription>): unknown {
  const parsed = ShownMessage.safeParse(message)
  if (!parsed.success) return {}
  const { name, data, opts, ...rest } = parsed.data
  const job = jobs.get(name)
  const options = Object.fromEntries(
    SHOWN_OPTIONS.flatMap((option) => (option in opts ? [[option, opts[option]]] : [])),
  )
  const carried = ['progress', 'returnValue', 'failedReason', 'stacktrace'] as const
  if (!job) {
    const hidden = carried.flatMap((field) => (isEmpty(rest[field]) ? [] : [[field, HIDDEN]]))
    const shown = { ...rest, ...Object.fromEntries(hidden), stacktrace: [] }
    return { ...shown, name, data: isEmpty(data) ? data : HIDDEN, opts: options }
  }
  const mask = maskOf(payloadOf(data), job)
  const masked = carried.map((field) => [field, shorten(withoutEnvelopes(mask(rest[field])))])
  const shownData = shorten(mask(withoutEnvelopes(showData(data, job))))
  return { ...rest, ...Object.fromEntries(masked), name, data: shownData, opts: options }
}

function payloadOf(data: unknown): unknown {
  return (data as Partial<RunMessage> | null)?.payload
}

/** What is shown of a message's data. Paths mean nothing in a form that is not known here: where there are any, it is hidden. */
function showData(data: unknown, job: JobDescription): unknown {
  const parsed = RunMessage.safeParse(data)
  if (!parsed.success) return job.redact?.length || job.encrypt ? HIDDEN : data
  const { search: _, ...shown } = data as RunMessage
  return { ...shown, ...keptPayload(parsed.data, job) }
}

function withoutEnvelopes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEnvelopes)
  if (value === null || typeof value !== 'object') return value
  // Also of a form that is not known here.
  if ('$encrypted' in value) return ENCRYPTED
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withoutEnvelopes(member)]),
  )
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === 0 || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function shorten(value: unknown): unknown {
  const text = JSON.stringify(value) ?? ''
  if (text.length <= LONGEST_FIELD) return value
  if (typeof value === 'string') return `${value.slice(0, LONGEST_FIELD)}…`
  if (Array.isArray(value)) return [`${text.slice(0, LONGEST_FIELD)}…`]
  return {
    cut: `${text.length} characters as JSON, the first ${LONGEST_FIELD} are`,
    begins: text.slice(0, LONGEST_FIELD),
  }
}
