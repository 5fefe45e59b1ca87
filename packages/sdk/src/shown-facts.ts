import { runError } from '@jadwal/queue'
import { type Mask, maskedNumber } from './secret-mask.ts'

const DEEPEST = 5
const MOST_PARTS = 300
const LONGEST_TEXT = 1_000
const LONGEST_NAME = 100
const UNSHOWN = '[can not be shown]'

/** What one look at a value may still take; shared by all its parts. */
interface Budget {
  mask: Mask | undefined
  partsLeft: number
}

/**
 * A value as JSON can say it, masked if asked, and bounded in its depth, its parts and the length of
 * its texts. Never throws, whatever getters, proxies and `toJSON` may do.
 */
export function shownFacts(value: unknown, mask: Mask | undefined): unknown {
  return shown(value, { mask, partsLeft: MOST_PARTS }, 0)
}

/** A text of at most so many characters, masked first: half a secret would not be found. */
export function shownText(text: string, mask: Mask | undefined, longest = LONGEST_TEXT): string {
  const masked = mask ? mask(text) : text
  return masked.length <= longest ? masked : `${masked.slice(0, longest - 1)}…`
}

function shown(value: unknown, budget: Budget, depth: number): unknown {
  budget.partsLeft -= 1
  switch (typeof value) {
    case 'string':
      return shownText(value, budget.mask)
    case 'bigint':
      return shownText(String(value), budget.mask)
    case 'number':
      return budget.mask ? maskedNumber(value, budget.mask) : value
    case 'boolean':
    case 'undefined':
      return value
    case 'function':
    case 'symbol':
      return undefined
    case 'object':
      try {
        return value === null ? null : shownObject(value, budget, depth)
      } catch {
        return UNSHOWN
      }
  }
}

function shownObject(value: object, budget: Budget, depth: number): unknown {
  if (value instanceof Error) return shownError(value, budget.mask)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  // Circles end here too.
  if (depth >= DEEPEST) return Array.isArray(value) ? '[…]' : '{…}'
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return shown((value.toJSON as () => unknown)(), budget, depth + 1)
  return Array.isArray(value)
    ? shownItems(value, budget, depth + 1)
    : shownParts(value, budget, depth + 1)
}

function shownItems(items: readonly unknown[], budget: Budget, depth: number): unknown[] {
  const kept: unknown[] = []
  for (const item of items) {
    if (budget.partsLeft <= 0) return [...kept, `… ${items.length - kept.length} more`]
    kept.push(shown(item, budget, depth))
  }
  return kept
}

function shownParts(value: object, budget: Budget, depth: number): Record<string, unknown> {
  const kept: [string, unknown][] = []
  const names = Object.keys(value)
  for (const name of names) {
    if (budget.partsLeft <= 0) {
      kept.push(['…', `${names.length - kept.length} more`])
      break
    }
    kept.push([
      shownText(name, budget.mask, LONGEST_NAME),
      shown(partOf(value, name), budget, depth),
    ])
  }
  return Object.fromEntries(kept)
}

function partOf(value: object, name: string): unknown {
  try {
    return Reflect.get(value, name)
  } catch {
    return UNSHOWN
  }
}

function shownError(error: Error, mask: Mask | undefined): object {
  const { name, message, code, stack } = runError(error, mask)
  return {
    name,
    message: shownText(message, undefined),
    ...(code === undefined ? {} : { code }),
    ...(stack === undefined ? {} : { stack: shownText(stack, undefined) }),
  }
}
