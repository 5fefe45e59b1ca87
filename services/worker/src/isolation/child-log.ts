import type { JobLog, JobLogMethod } from '@jadwal/sdk'
import type { ChildLink } from './child-link.ts'
import type { LogOfChild } from './messages.ts'
import { type SentError, sentError } from './sent-error.ts'

/** A handler's log whose lines the worker writes. */
export function childLog(link: ChildLink, serial: number): JobLog {
  const method =
    (level: LogOfChild['level']): JobLogMethod =>
    (first: string | object, message?: string) => {
      const line =
        typeof first === 'string'
          ? { message: first }
          : { ...sentFacts(first), ...(message === undefined ? {} : { message }) }
      link.send({ type: 'log', serial, level, ...line })
    }
  return {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
  }
}

/** Errors go by themselves, so that the worker shows them with their causes. Never throws. */
function sentFacts(facts: object): Pick<LogOfChild, 'facts' | 'errors'> {
  try {
    if (facts instanceof Error) return { facts: '{}', errors: { err: sentError(facts) } }
    const errors: Record<string, SentError> = {}
    const rest: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(facts)) {
      if (value instanceof Error) errors[name] = sentError(value)
      else rest[name] = value
    }
    return { facts: JSON.stringify(rest), errors }
  } catch {
    return { facts: JSON.stringify({ unserialisable: true }) }
  }
}
