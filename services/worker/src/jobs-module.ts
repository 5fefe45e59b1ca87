import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Imports the module that `JADWAL_JOBS` names: a path, or a package. */
export async function importJobs(module: string): Promise<unknown> {
  const address = /^(\.|\/)|\.[cm]?[jt]s$/.test(module)
    ? pathToFileURL(resolve(module)).href
    : module
  return await import(address)
}
