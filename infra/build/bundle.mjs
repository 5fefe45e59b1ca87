// Bundles what a folder is run as: our own source goes in, packages of the registry stay in node_modules.
// Run in the folder of a service or package: node ../../infra/build/bundle.mjs [src/main.ts dist/main.js ...]
import { build } from 'esbuild'

const args = process.argv.length > 2 ? process.argv.slice(2) : ['src/main.ts', 'dist/main.js']
for (let i = 0; i < args.length; i += 2) await bundle(args[i], args[i + 1])

async function bundle(entry, outfile) {
  await build({
    entryPoints: [entry],
    outfile,
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
