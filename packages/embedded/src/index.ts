export { freePort } from './free-port.ts'
export { type EmbeddedPostgres, type PostgresOptions, startPostgres } from './postgres.ts'
export {
  identifyProcess,
  isAlive,
  type ProcessIdentity,
  signalProcess,
  stopProcess,
  waitForEnd,
} from './process-identity.ts'
export { findProgram, type Program, programEnv, type ProgramSearch } from './debian-program.ts'
export { findRedisBinary } from './redis-binary.ts'
export { type EmbeddedRedis, type RedisServerOptions, startRedis } from './redis.ts'
export { type ServerProcess } from './server-process.ts'
export { isReachableByAll, unprivilegedUser } from './unprivileged-user.ts'
export { startMailSink } from './mail-sink.ts'
