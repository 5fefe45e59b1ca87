import { z } from 'zod'

/** A problem document of the api (RFC 9457). */
export const ProblemDocument = z.looseObject({
  type: z.string().optional(),
  title: z.string().optional(),
  status: z.number().optional(),
  detail: z.string().optional(),
  errors: z
    .array(z.looseObject({ field: z.string(), message: z.string(), value: z.unknown().optional() }))
    .optional(),
  requestId: z.string().optional(),
})
export type ProblemDocument = z.infer<typeof ProblemDocument>

/** The api answered that it can't be done. */
export class ProblemError extends Error {
  override name = 'ProblemError'
  readonly status: number
  readonly document: ProblemDocument

  constructor(status: number, document: ProblemDocument) {
    super(document.detail ?? document.title ?? `status ${status}`)
    this.status = status
    this.document = document
  }

  /** The last part of the type, such as `run-ended`. */
  get kind(): string {
    return this.document.type?.split(':').at(-1) ?? ''
  }
}

/** Nobody answered, or somebody who is no api of Jadwal. The message is for the user. */
export class UnreachableError extends Error {
  override name = 'UnreachableError'
}

/** A command can't go on. The message is for the user. */
export class CommandError extends Error {
  override name = 'CommandError'
}

/** The command line is wrong in a way that its options alone do not tell. */
export class UsageError extends Error {
  override name = 'UsageError'
}
