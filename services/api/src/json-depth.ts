import { Problem } from './problem.ts'

/** Deeper than anything that people send. */
const DEEPEST = 200

const QUOTE = 0x22
const BACKSLASH = 0x5c
const STEP: Readonly<Record<number, number>> = { 0x5b: 1, 0x7b: 1, 0x5d: -1, 0x7d: -1 }

/**
 * Refuses a body of JSON that is nested deeper than anything that people send, before it is read: what is
 * made of one costs many times its size. Goes into `verify` of express' `json`.
 */
export function refuseDeepJson(_req: unknown, _res: unknown, body: Buffer): void {
  let depth = 0
  let isText = false
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0
    if (isText && byte === BACKSLASH) at += 1
    else if (byte === QUOTE) isText = !isText
    else if (!isText) depth += STEP[byte] ?? 0
    if (depth > DEEPEST)
      throw new Problem('bad-request', {
        detail: `The body is nested deeper than ${DEEPEST} objects and lists, at its byte ${at}.`,
      })
  }
}
