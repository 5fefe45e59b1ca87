import type { SupervisorConfig } from './config.ts'
import { urlHost } from './service-specs.ts'
import type { Supervisor } from './supervisor.ts'

/** What is printed last, when everything is ready: where to look and what to log in with. */
export function banner(config: SupervisorConfig, supervisor: Supervisor): string {
  const api = `http://${urlHost(config.host)}:${supervisor.apiPort}`
  const metrics = supervisor.services
    .filter(({ name, port }) => name !== 'api' && port !== undefined)
    .map(({ name, port }) => `  ${name.padEnd(12)} http://127.0.0.1:${port}/metrics`)
  return [
    '',
    'Jadwal is running. Ctrl-C drains and stops it.',
    '',
    `  page         ${api}/`,
    `  Bull Board   ${api}/queues`,
    `  api          ${api}/api/v1/docs`,
    `  metrics      ${api}/metrics (with the token), and of each service:`,
    ...metrics,
    `  data folder  ${config.dataFolder}`,
    `  admin token  ${supervisor.adminToken}`,
    '',
    '',
  ].join('\n')
}
