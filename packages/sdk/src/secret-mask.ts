import { runError } from '@jadwal/queue'
import type { JobLog, JobLogMethod } from './job-context.ts'

/** Shorter values are found in too many words that are none. */
const SHORTEST = 6
const MASKED = '***'

/** Puts `***` in the place of each secret in a text. */
export type Mask = (text: string) => string

/** A mask for these secrets, as they are and as JSON writes them; undefined when there is nothing to hide. */
export function maskOf(secrets: Iterable<string>): Mask | undefined {
  const long = [...secrets].filter((secret) => secret.length >= SHORTEST)
  const forms = new Set(long.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))
  if (forms.size === 0) return undefined
  // One that contains another goes first.
  const ordered = [...forms].toSorted((a, b) => b.length - a.length)
  return (text) => ordered.reduce((masked, form) => masked.replaceAll(form, MASKED), text)
}

/** What JSON makes of a value, with each text in it masked, names too. Throws where JSON does. */
export function maskValue(value: unknown, mask: Mask): unknown {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'string') return mask(part)
    if (typeof part === 'number') return maskedNumber(part, mask)
    if (part instanceof Error) return runError(part, mask)
    return isPlain(part) ? withMaskedNames(part, mask) : part
  })
  return text === undefined ? undefined : JSON.parse(text)
}

/** A number whose digits are to be hidden becomes a text. */
export function maskedNumber(value: number, mask: Mask): number | string {
  const text = mask(String(value))
  return text === String(value) ? value : text
}

/** A handler's log that echoes no secrets. */
export function maskedLog(log: JobLog, mask: Mask): JobLog {
  const masked =
    (level: keyof JobLog): JobLogMethod =>
    (first: string | object, message?: string) => {
      if (typeof first === 'string') log[level](mask(first))
      else log[level](maskedFacts(first, mask), message === undefined ? message : mask(message))
    }
  return {
    debug: masked('debug'),
    info: masked('info'),
    warn: masked('warn'),
    error: masked('error'),
  }
}

function maskedFacts(facts: object, mask: Mask): object {
  try {
    const whole = facts instanceof Error ? { err: facts } : facts
    return { ...(maskValue(whole, mask) as object) }
  } catch {
    return { unserialisable: true }
  }
}

function withMaskedNames(value: object, mask: Mask): object {
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [mask(name), part]))
}

function isPlain(value: unknown): value is object {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
