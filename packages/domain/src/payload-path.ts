import { z } from 'zod'

/** Where in a payload something is: names with dots between them, `*` for each element or member. */
export const PayloadPath = z
  .string()
  .max(200, 'must have at most 200 characters')
  .regex(
    /^([^.*\s]+|\*)(\.([^.*\s]+|\*))*$/,
    'must be names with dots between them, such as card.number or items.*.sku',
  )
export type PayloadPath = z.infer<typeof PayloadPath>

/** What stands in the place of a value that is not shown. */
export const REDACTED = '[redacted]'

/** The values at these paths of a payload; where a path leads nowhere, none. */
export function valuesAt(payload: unknown, paths: readonly PayloadPath[]): unknown[] {
  return paths.flatMap((path) => at(payload, path.split('.')))
}

function at(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (name === undefined) return [value]
  return members(value, name).flatMap(([, member]) => at(member, rest))
}

/** The payload with REDACTED at these paths; the payload itself where none of them leads anywhere. */
export function redactPayload(payload: unknown, paths: readonly PayloadPath[]): unknown {
  return paths.reduce((shown, path) => hide(shown, path.split('.')), payload)
}

function hide(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return REDACTED
  const hidden = members(value, name).flatMap(([key, member]) => {
    const shown = hide(member, rest)
    return shown === member ? [] : [[key, shown] as const]
  })
  if (hidden.length === 0) return value
  if (Array.isArray(value)) return Object.assign([...value], Object.fromEntries(hidden))
  // Keeps a member called __proto__ what it is.
  return Object.fromEntries([...Object.entries(value as object), ...hidden])
}

function members(value: unknown, name: string): [string, unknown][] {
  if (value === null || typeof value !== 'object') return []
  const entries = Object.entries(value)
  return name === '*' ? entries : entries.filter(([key]) => key === name)
}
