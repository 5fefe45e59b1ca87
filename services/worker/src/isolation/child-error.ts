import type { ChildEnd, ChildKind } from './child.ts'

type ChildErrorCode = 'CHILD_EXITED' | 'CHILD_KILLED' | 'CHILD_OUT_OF_MEMORY' | 'CHILD_NOT_STARTED'

/** An attempt failed because of the child that made it. The message says what happened to that. */
export class ChildError extends Error {
  override name = 'ChildError'
  readonly code: ChildErrorCode

  constructor(code: ChildErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The error of an attempt whose child ended during it. */
export function endedInAttempt(kind: ChildKind, end: ChildEnd): ChildError {
  return new ChildError(
    codeOf(end),
    `the ${childOf(kind)} of the attempt ${sayEnd(kind, end)}`,
    causeOf(end),
  )
}

/** The error of an attempt for which no child could be started. `end` is left out when it took too long. */
export function notStarted(
  kind: ChildKind,
  { problem, cause }: { problem: string; cause?: unknown },
) {
  return new ChildError(
    'CHILD_NOT_STARTED',
    `the ${childOf(kind)} for the attempt could not be started: ${problem}`,
    causeOf({ cause }),
  )
}

/** What happened, to follow on "the child …". */
export function sayEnd({ isolate, memoryMb }: ChildKind, end: ChildEnd): string {
  if (end.outOfMemory) return `needed more memory than its limit, memoryMb = ${memoryMb} MiB`
  if (end.signal === 'SIGKILL')
    return 'was killed by SIGKILL, perhaps because the machine or container had no memory left'
  if (end.signal !== null) return `was killed by ${end.signal}`
  if (end.code === null || (isolate === 'thread' && end.cause !== undefined)) return 'failed'
  return `ended with exit code ${end.code} before the handler did`
}

function codeOf(end: ChildEnd): ChildErrorCode {
  if (end.outOfMemory) return 'CHILD_OUT_OF_MEMORY'
  return end.signal === null ? 'CHILD_EXITED' : 'CHILD_KILLED'
}

function causeOf({ cause }: { cause?: unknown }): ErrorOptions | undefined {
  return cause === undefined ? undefined : { cause }
}

function childOf({ isolate }: ChildKind): string {
  return isolate === 'thread' ? 'thread' : 'child process'
}
