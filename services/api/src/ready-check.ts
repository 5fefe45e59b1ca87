import { type Logger, rateLimitedErrors, type ReadyCheck } from '@jadwal/runtime'

/**
 * Whether all servers answer. Anybody may ask `/readyz`, so it says which one does not and no more: why,
 * with addresses and names of users, goes to the log.
 */
export function readyCheck(
  servers: Readonly<Record<string, () => Promise<unknown>>>,
  log: Logger,
): ReadyCheck {
  const checks = Object.entries(servers).map(([name, ask]) => {
    const tell = rateLimitedErrors(log, `not ready: ${name} can not be used`)
    return async (): Promise<string[]> => {
      try {
        await ask()
        return []
      } catch (error) {
        tell(error)
        return [`${name} can not be used`]
      }
    }
  })
  return async () => (await Promise.all(checks.map((check) => check()))).flat()
}
