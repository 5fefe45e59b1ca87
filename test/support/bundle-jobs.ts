import { rmSync } from 'node:fs'
import { join, parse } from 'node:path'
import { PROJECT_ROOT } from '@jadwal/testkit'
import { build } from 'esbuild'

const made = new Set<string>()
process.on('exit', () => {
  for (const file of made) rmSync(file, { force: true })
})

/** Bundles the fault jobs as a user would bundle theirs; returns what `JADWAL_JOBS` is to name. */
export function bundleFaultJobs(): Promise<string> {
  return bundle('support/fault-jobs.ts')
}

/** Bundles a file under `test/`, as a user would bundle their jobs; returns the bundle's path. */
export async function bundle(file: string): Promise<string> {
  // Below the project, so that the packages that stay outside the bundle are found; one file a process.
  const outfile = join(PROJECT_ROOT, 'test', 'dist', `${parse(file).name}-${process.pid}.mjs`)
  made.add(outfile)
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
