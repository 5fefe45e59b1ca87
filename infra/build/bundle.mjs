// Bundles what a folder is run as: our own source goes in, packages of the registry stay in node_modules.
// Run in the folder of a service or package: node ../../infra/build/bundle.mjs [--split] [src/main.ts dist/main.js ...]
// With --split, what is imported when it is needed lies in files of its own, so that a start loads little.
import { basename, dirname } from 'node:path'
import { build } from 'esbuild'

const given = process.argv.slice(2).filter((arg) => arg !== '--split')
const isSplit = process.argv.includes('--split')
const args = given.length > 0 ? given : ['src/main.ts', 'dist/main.js']
for (let i = 0; i < args.length; i += 2) await bundle(args[i], args[i + 1])

async function bundle(entry, outfile) {
  await build({
    ...(isSplit
      ? {
          entryPoints: { [basename(outfile, '.js')]: entry },
          outdir: dirname(outfile),
          splitting: true,
          chunkNames: 'parts/[name]-[hash]',
        }
      : { entryPoints: [entry], outfile }),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    logLevel: 'warning',
    plugins: [
      {
        name: 'registry-packages-stay-outside',
        setup(bundling) {
          bundling.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
            kind === 'entry-point' || path.startsWith('@jadwal/')
              ? undefined
              : { path, external: true },
          )
        },
      },
    ],
  })
}
