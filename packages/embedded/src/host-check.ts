import { ConfigError } from '@jadwal/runtime'
import { freePort } from './free-port.ts'

/** Throws `ConfigError` when nothing can listen on this host. */
export async function checkHost(host: string): Promise<void> {
  try {
    await freePort(0, host)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const problem = `must be an address of this machine (${reason})`
    throw new ConfigError([{ variable: 'JADWAL_HOST', value: host, problem }])
  }
}
