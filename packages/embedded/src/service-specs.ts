import { join } from 'node:path'
import type { SupervisorConfig } from './config.ts'
import type { ServiceSpec } from './service-keeper.ts'

/** Where the services find each other and their servers. */
export interface Addresses {
  redisUrl: string
  databaseUrl: string
  smtpUrl: string
  apiPort: number
  adminToken: string
  viewerToken: string
}

/** How many of each, in the order in which they start; they stop the other way round. */
const COUNTS = { api: 1, recorder: 1, worker: 2, scheduler: 2 } as const
type ServiceName = keyof typeof COUNTS

/** Of the grace, what the workers leave to the recorder, which empties the outboxes after them. */
const AFTER_WORKERS_MS = 5_000

/** The services of `npm start`: one list for each kind, in the order in which the kinds start. */
export function serviceSpecs(config: SupervisorConfig, addresses: Addresses): ServiceSpec[][] {
  return (Object.keys(COUNTS) as ServiceName[]).map((service) => {
    const count = COUNTS[service]
    return Array.from({ length: count }, (_, index) => ({
      name: count === 1 ? service : `${service}.${index + 1}`,
      file: join(config.projectRoot, 'services', service, 'dist', 'main.js'),
      env: serviceEnv(service, config, addresses),
    }))
  })
}

/** Only the api is given the tokens that open it; only workers are given one to call it with, and no way to Postgres. */
function serviceEnv(
  service: ServiceName,
  config: SupervisorConfig,
  addresses: Addresses,
): NodeJS.ProcessEnv {
  const {
    DATABASE_URL: _database,
    JADWAL_ADMIN_TOKEN: _admin,
    JADWAL_VIEWER_TOKEN: _viewer,
    JADWAL_TOKEN: _token,
    ...env
  } = config.env
  return {
    ...env,
    REDIS_URL: addresses.redisUrl,
    SMTP_URL: addresses.smtpUrl,
    JADWAL_HOST: config.host,
    JADWAL_PORT: '0',
    JADWAL_GRACE_MS: String(config.graceMs),
    JADWAL_SCHEDULES: config.schedules,
    JADWAL_DATA: config.dataFolder,
    JADWAL_URL: `http://${urlHost(config.host)}:${addresses.apiPort}`,
    ...ownEnv(service, config, addresses),
  }
}

function ownEnv(
  service: ServiceName,
  config: SupervisorConfig,
  { databaseUrl, apiPort, adminToken, viewerToken }: Addresses,
): NodeJS.ProcessEnv {
  switch (service) {
    case 'api':
      return {
        DATABASE_URL: databaseUrl,
        JADWAL_PORT: String(apiPort),
        JADWAL_ADMIN_TOKEN: adminToken,
        JADWAL_VIEWER_TOKEN: viewerToken,
      }
    case 'worker':
      return {
        // Whoever starts it from the shell in which they use `jadwal` has the admin token there.
        JADWAL_TOKEN:
          config.token === undefined || config.token === adminToken ? viewerToken : config.token,
        JADWAL_EXEC_ALLOW: config.execAllow,
        JADWAL_GRACE_MS: String(workerGraceMs(config.graceMs)),
      }
    case 'recorder':
    case 'scheduler':
      return { DATABASE_URL: databaseUrl }
  }
}

/** The workers' part of the grace: all of it but 5 s, at least half. */
function workerGraceMs(graceMs: number): number {
  return Math.max(graceMs - AFTER_WORKERS_MS, Math.round(graceMs / 2))
}

/** A host as it stands in a URL; every address of the machine is reached through the loopback one. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
