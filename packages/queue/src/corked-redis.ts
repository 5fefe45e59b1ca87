import type { Redis, RedisOptions } from 'ioredis'
import type { Writable } from 'node:stream'
import { openRedis } from './connections.ts'

/**
 * Opens a connection that sends all commands of one turn of the event loop in one piece. ioredis makes
 * a system call for each; a busy worker or producer sends dozens a turn, and this saves about a quarter of its CPU time
 * and some of Redis'.
 */
export function openCorkedRedis(options: RedisOptions, onError: (error: Error) => void): Redis {
  const redis = openRedis(options, onError)
  redis.on('connect', () => {
    const stream: unknown = Reflect.get(redis, 'stream')
    if (isWritable(stream)) writeOncePerTurn(stream)
  })
  return redis
}

function writeOncePerTurn(stream: Writable): void {
  const write = stream.write.bind(stream)
  let corked = false
  const uncork = (): void => {
    corked = false
    stream.uncork()
  }
  const writeCorked = (...args: Parameters<typeof write>): boolean => {
    if (!corked) {
      corked = true
      stream.cork()
      process.nextTick(uncork)
    }
    return write(...args)
  }
  stream.write = writeCorked as typeof stream.write
}

function isWritable(stream: unknown): stream is Writable {
  return stream !== null && typeof stream === 'object' && 'cork' in stream && 'uncork' in stream
}
