import { openRedis, workerConnection } from './connections.ts'

/**
 * Listens on channels with a connection of its own, across reconnects. A message may be missed while
 * Redis is away: what listens must also look by itself now and then.
 */
export function subscribe(options: {
  url: string
  channels: Readonly<Record<string, (message: string) => void>>
  onError: (error: Error) => void
}): { close(): void } {
  const redis = openRedis(workerConnection(options.url), options.onError)
  redis.on('message', (channel: string, message: string) => options.channels[channel]?.(message))
  redis.subscribe(...Object.keys(options.channels)).catch(options.onError)
  return { close: () => redis.disconnect() }
}
