import type { RunError } from '@jadwal/domain'

const MAX_TEXT_LENGTH = 8 * 1024
const MAX_NAME_LENGTH = 200

/**
 * What is kept of anything that was thrown: masked if asked, bounded, with its causes under its stack.
 * Never throws, though getters and proxies among what is thrown may.
 */
export function runError(
  thrown: unknown,
  mask: (text: string) => string = (text) => text,
): RunError {
  try {
    return shown(thrown, mask)
  } catch {
    return { name: 'Error', message: 'something that can not be shown was thrown' }
  }
}

function shown(thrown: unknown, mask: (text: string) => string): RunError {
  const kept = (text: string, maxLength?: number): string => cut(mask(text), maxLength)
  if (!(thrown instanceof Error))
    return { name: 'Error', message: kept(`thrown: ${asText(thrown)}`) }
  const stack = stackWithCauses(thrown)
  const code = 'code' in thrown ? thrown.code : undefined
  return {
    name: kept(asText(thrown.name) || 'Error', MAX_NAME_LENGTH),
    message: kept(asText(thrown.message)),
    ...(stack === '' ? {} : { stack: kept(stack) }),
    ...(typeof code === 'string' || typeof code === 'number'
      ? { code: kept(String(code), MAX_NAME_LENGTH) }
      : {}),
  }
}

function stackWithCauses(error: Error): string {
  const parts: string[] = []
  let next: unknown = error
  for (let depth = 0; next instanceof Error && depth < 5; depth += 1) {
    parts.push(asText(next.stack ?? next.message))
    next = next.cause
  }
  return parts.join('\ncaused by: ')
}

/** What a handler throws may break every promise of its type. */
function asText(value: unknown): string {
  try {
    return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  } catch {
    return String(value)
  }
}

function cut(text: string, maxLength = MAX_TEXT_LENGTH): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`
}
