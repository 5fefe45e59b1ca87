import { type JobDescription, REDACTED, redactedTexts } from '@jadwal/domain'

/** Shorter values at a redacted path are found in too many texts by chance. */
const SHORTEST_VALUE = 4

export type Mask = <T>(value: T) => T

/**
 * What puts `[redacted]` in the place of the texts at a payload's redacted paths, wherever they turn up in
 * what its run left behind.
 */
export function maskOf(payload: unknown, job: Pick<JobDescription, 'redact'>): Mask {
  const secrets = redactedTexts(payload, job)
    .filter((text) => text.length >= SHORTEST_VALUE && text !== REDACTED)
    // One may be part of another, and must not leave the rest of it.
    .toSorted((one, other) => other.length - one.length)
  if (secrets.length === 0) return (value) => value
  const hide = (text: string): string =>
    secrets.reduce((shown, secret) => shown.replaceAll(secret, REDACTED), text)
  return (value) => mapTexts(value, hide) as typeof value
}

/** Of what nobody knows which part of it is secret. */
export const maskAll: Mask = (value) => mapTexts(value, () => REDACTED) as typeof value

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (typeof value === 'number') {
    const shown = map(String(value))
    return shown === String(value) ? value : shown
  }
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [map(key), mapTexts(member, map)]),
  )
}
