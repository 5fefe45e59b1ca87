import type { Request } from 'express'
import type { Method, Operation } from './operation.ts'
import { pathUuid } from './path-uuid.ts'

/**
 * What the audit log calls an operation: the words of its path, and the method where it is no POST, such
 * as `schedules.pause` and `schedules.put`. Undefined when it is not for the audit log.
 */
export function auditAction({
  audit,
  method,
  path,
}: Pick<Operation, 'audit'> & { method: Method; path: string }): string | undefined {
  if (method === 'get' || audit === false) return undefined
  if (audit !== undefined) return audit
  const words = path.split('/').filter((word) => word !== '' && !word.startsWith(':'))
  return [...words, ...(method === 'post' ? [] : [method])].join('.')
}

/**
 * What an operation is done to: what it says, or its path up to the last part that varies,
 * `schedules/nightly`; nothing when none does. An id is the same however its letters are written.
 */
export function auditSubject({
  path,
  subject,
}: Pick<Operation, 'subject'> & { path: string }): (req: Request) => string | undefined {
  const words = (subject ?? path).split('/').filter((word) => word !== '')
  const upTo =
    subject === undefined
      ? words.slice(0, words.findLastIndex((word) => word.startsWith(':')) + 1)
      : words
  return ({ params }) => {
    if (upTo.length === 0) return undefined
    const filled = upTo.map((word) => (word.startsWith(':') ? plain(params[word.slice(1)]) : word))
    return filled.join('/')
  }
}

function plain(part: string | string[] | undefined): string {
  const text = String(part ?? '')
  return pathUuid(text) ?? text
}
