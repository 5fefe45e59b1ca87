/** The handler was told to end and did not: the worker went on without it, and what it still does counts for nothing. */
export class AbandonedError extends Error {
  override name = 'AbandonedError'
  readonly code = 'ABANDONED'

  /** `why` says what it was told to end for. */
  constructor(why: string) {
    super(`${why}; the handler did not heed its signal and was left to itself`)
  }
}
