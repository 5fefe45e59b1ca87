export { eventually } from './eventually.ts'
export { FakeClock } from './fake-clock.ts'
export { inTime } from './in-time.ts'
export { PROJECT_ROOT } from './project-root.ts'
export { redisText } from './redis-text.ts'
export {
  type ServiceName,
  type ServiceProcess,
  spawnMain,
  spawnService,
} from './service-process.ts'
export { makeTempFolder, removeTempFolder } from './temp-folder.ts'
export {
  asAdmin,
  createTestDatabase,
  databaseUrl,
  TEMPLATE_DATABASE,
  type TestDatabase,
} from './test-database.ts'
export { startTestPostgres, type TestPostgres } from './test-postgres.ts'
export { startTestPgBouncer, type TestPgBouncer } from './test-pgbouncer.ts'
export { startTestRedis, type TestRedis } from './test-redis.ts'
