import type { RunView } from '@jadwal/db'
import type { ApiDeps } from './api-deps.ts'
import { pathUuid } from './path-uuid.ts'
import { Problem } from './problem.ts'
import { readRun } from './read-run.ts'

/** The run of a path. Throws a `Problem` when there is no such run. */
export async function requireRun(deps: ApiDeps, given: unknown): Promise<RunView> {
  const id = pathUuid(given)
  const run = id === undefined ? undefined : await readRun(deps, id)
  if (!run) throw new Problem('not-found', { detail: 'There is no run with this id.' })
  return run
}
