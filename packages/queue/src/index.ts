export {
  leaderConnection,
  openRedis,
  producerConnection,
  redisReady,
  workerConnection,
} from './connections.ts'
export * as keys from './keys.ts'
export { redisOptions, redisUrlProblem } from './redis-url.ts'
