import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import pkg from '../package.json' with { type: 'json' }

/** The version of Jadwal that runs. */
export const VERSION: string = pkg.version

/** A name for this process that no other process has or had: `host-pid-4 hex digits`. */
export function instanceName(): string {
  return `${hostname()}-${process.pid}-${randomBytes(2).toString('hex')}`
}
