/** In front, as Redis says it; scripts of Redis 7 name themselves only behind it. */
const PLAIN = /^([A-Z]+)(?: |$)/
/**
 * Redis up to 6.2 wraps what a command in a script was refused with:
 * `ERR Error running script (call to f_…): @user_script:1: @user_script: 1: -OOM command …`.
 */
const WRAPPED = /@user_script: ?\d+: -?([A-Z]+) /

/** The code of an error that Redis answered with (`OOM`, `READONLY`, …), of a script's too; else undefined. */
export function redisErrorCode(error: Error): string | undefined {
  const plain = PLAIN.exec(error.message)?.[1]
  return plain === 'ERR' ? (WRAPPED.exec(error.message)?.[1] ?? plain) : plain
}

/** Whether Redis answered with one of these codes. */
export function isRedisError(error: Error, codes: ReadonlySet<string>): boolean {
  const code = redisErrorCode(error)
  return code !== undefined && codes.has(code)
}
