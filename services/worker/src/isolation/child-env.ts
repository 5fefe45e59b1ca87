/** What only the worker itself needs, or puts into payloads where it is asked for. */
const NOT_FOR_CHILDREN =
  /^JADWAL_(SECRET_.*|(ENCRYPTION_KEYS|((ADMIN|VIEWER|METRICS)_)?TOKEN)(_FILE)?)$/

/** The environment that children get of the worker's. */
export function childEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !NOT_FOR_CHILDREN.test(name)))
}
