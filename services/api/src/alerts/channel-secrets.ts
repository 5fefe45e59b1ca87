import {
  AlertChannelInput,
  AlertChannelSpec,
  type ChannelSecret,
  isSecretRef,
} from '@jadwal/domain'
import type { FieldError } from '../problem.ts'
import { fieldErrors } from '../zod-problem.ts'

/** The fields of a channel that hold secrets. */
export const CHANNEL_SECRETS = ['url', 'hmac'] as const

/** A channel as it may be seen: of each secret that it is set, or the name that stands for it. */
export function shownChannel(spec: object): Record<string, unknown> {
  const shown: Record<string, unknown> = { ...spec }
  for (const field of CHANNEL_SECRETS) {
    const value = shown[field]
    if (value !== undefined && !isSecretRef(value)) shown[field] = { set: true }
  }
  return shown
}

/** What was sent in, with the secrets that it keeps put in from what is there; or what is wrong with it. */
export function readChannel(
  input: unknown,
  before: object | undefined,
): { spec: AlertChannelSpec } | { errors: FieldError[] } {
  const read = AlertChannelInput.safeParse(input)
  if (!read.success) return { errors: read.error.issues.flatMap(fieldErrors) }
  const spec: Record<string, unknown> = { ...read.data }
  const errors: FieldError[] = []
  for (const field of CHANNEL_SECRETS) {
    if (!isKept(spec[field])) continue
    const kept = keptSecret(before, field)
    if (kept === undefined)
      errors.push({ field, message: 'is not set yet: send it, or { "secret": "NAME" }' })
    else spec[field] = kept
  }
  return errors.length > 0 ? { errors } : { spec: AlertChannelSpec.parse(spec) }
}

function isKept(value: unknown): boolean {
  return value !== null && typeof value === 'object' && 'set' in value
}

function keptSecret(before: object | undefined, field: string): ChannelSecret | undefined {
  return before && (Reflect.get(before, field) as ChannelSecret | undefined)
}
