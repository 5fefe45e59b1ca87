/** Redis, or what was looked for in it, can't be read. The message is for the user. */
export class RedisReadError extends Error {
  override name = 'RedisReadError'
}
