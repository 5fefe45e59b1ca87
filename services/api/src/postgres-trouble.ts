/** SQLSTATE classes of a server that is away, going, full or not ready: connection, resources, operator, system. */
const SERVER_STATES = /^(08|53|57|58|3D|28|25006|42P01|3F000)/
const MESSAGES =
  /Query read timeout|timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|not queryable|ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EAI_AGAIN/

/**
 * Whether an error is Postgres being away or not ready, the tables included, as opposed to a mistake in
 * a statement.
 */
export function isPostgresTrouble(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isPostgresTrouble)
  if (!(error instanceof Error)) return false
  if ('severity' in error && 'code' in error) return SERVER_STATES.test(String(error.code))
  return MESSAGES.test(error.message)
}
