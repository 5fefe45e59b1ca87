import { join, parse } from 'node:path'
import { PROJECT_ROOT } from '@jadwal/testkit'
import { build } from 'esbuild'

/**
 * Where the processes that one has started put their bundles: below the project, so that the packages that
 * stay outside are found.
 */
export function bundlesOf(parentPid: number): string {
  return join(PROJECT_ROOT, 'test', 'dist', String(parentPid))
}

/** Bundles the fault jobs as a user would bundle theirs; returns what `JADWAL_JOBS` is to name. */
export function bundleFaultJobs(): Promise<string> {
  return bundle('support/fault-jobs.ts')
}

/** Bundles a file under `test/`, as a user would bundle their jobs; returns the bundle's path. */
export async function bundle(file: string): Promise<string> {
  const outfile = join(bundlesOf(process.ppid), `${parse(file).name}-${process.pid}.mjs`)
  await build({
    entryPoints: [join(PROJECT_ROOT, 'test', file)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [
      {
        name: 'registry packages stay outside',
        setup: (bundler) =>
          bundler.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
            kind === 'entry-point' || path.startsWith('@jadwal/')
              ? undefined
              : { path, external: true },
          ),
      },
    ],
  })
  return outfile
}
