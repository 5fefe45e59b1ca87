/** What was to be started cannot run; nothing goes on without it. */
export class StartFailedError extends Error {
  override name = 'StartFailedError'
  readonly code = 'START_FAILED'
  /** What the supervisor exits with. */
  readonly exitCode: number

  constructor(message: string, exitCode: number) {
    super(message)
    this.exitCode = exitCode
  }
}
