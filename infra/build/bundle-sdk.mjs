// Builds what is published of @jadwal/sdk, into packages/sdk/dist: `npm publish packages/sdk/dist`.
// Our own source goes in, packages of the registry stay outside and become its dependencies.
// Run in packages/sdk: node ../../infra/build/bundle-sdk.mjs
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'

const ENTRIES = ['index', 'testing']
/** Users make schemas with their own copy: it has to be the one that the sdk checks with. */
const PEERS = new Set(['zod'])
const OURS = /^@jadwal\/(\w+)$/
const root = resolve('../..')

await rm('dist', { recursive: true, force: true })
await mkdir('dist')
const imported = new Set([...(await bundleCode()), ...(await bundleTypes())])
await writeFile('dist/package.json', `${JSON.stringify(await manifest(imported), null, 2)}\n`)
await copyFile('README.md', 'dist/README.md')
await copyFile(join(root, 'LICENSE'), 'dist/LICENSE')

/** Returns the packages that the code imports. One copy of what entries share, so that `instanceof` holds. */
async function bundleCode() {
  const { metafile } = await build({
    entryPoints: ENTRIES.map((entry) => `src/${entry}.ts`),
    outdir: 'dist',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    chunkNames: 'shared-[hash]',
    metafile: true,
    logLevel: 'warning',
    plugins: [
      {
        name: 'registry-packages-stay-outside',
        setup(bundle) {
          bundle.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
            kind === 'entry-point' || OURS.test(path) ? undefined : { path, external: true },
          )
        },
      },
    ],
  })
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports)
  return imports.filter(({ external }) => external).map(({ path }) => path)
}

/** One file of types an entry, complete in itself. Returns the packages that they import. */
async function bundleTypes() {
  const imports = []
  for (const entry of ENTRIES) {
    const bundle = await rollup({
      input: { [entry]: `src/${entry}.ts` },
      external: (id) => !/^[./]/.test(id) && !OURS.test(id),
      onwarn: (warning) => {
        throw new Error(`types of ${entry}: ${warning.message}`)
      },
      plugins: [
        { name: 'our-own-packages-go-in', resolveId: sourceOf },
        dts({
          tsconfig: join(root, 'tsconfig.json'),
          compilerOptions: { declaration: true, noEmit: false, emitDeclarationOnly: true },
        }),
      ],
    })
    const { output } = await bundle.write({ dir: 'dist', format: 'es' })
    imports.push(...output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.imports : [])))
    await bundle.close()
  }
  return imports
}

function sourceOf(id) {
  const name = OURS.exec(id)?.[1]
  return name === undefined ? undefined : join(root, 'packages', name, 'src', 'index.ts')
}

/** What npm is told: the entries, and each imported package in the version that it was tested with. */
async function manifest(imports) {
  const own = JSON.parse(await readFile('package.json', 'utf8'))
  const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const versions = await knownVersions()
  const packages = [...imports].filter((id) => !isBuiltin(id)).map(packageOf)
  const names = [...new Set(packages)].toSorted((a, b) => (a < b ? -1 : 1))
  const missing = names.filter((name) => versions[name] === undefined)
  if (missing.length > 0) throw new Error(`imported, but no dependency: ${missing.join(', ')}`)
  const { name, version, description, license, type, sideEffects } = own
  return {
    name,
    version,
    description,
    license,
    type,
    sideEffects,
    engines,
    exports: Object.fromEntries([
      ...ENTRIES.map((entry) => [
        entry === 'index' ? '.' : `./${entry}`,
        { types: `./${entry}.d.ts`, default: `./${entry}.js` },
      ]),
      ['./package.json', './package.json'],
    ]),
    types: './index.d.ts',
    files: ['*.js', '*.d.ts'],
    dependencies: Object.fromEntries(
      names.filter((each) => !PEERS.has(each)).map((each) => [each, versions[each]]),
    ),
    peerDependencies: Object.fromEntries(
      names.filter((each) => PEERS.has(each)).map((each) => [each, `^${versions[each]}`]),
    ),
    publishConfig: { access: 'public' },
  }
}

async function knownVersions() {
  const files = ['domain', 'queue', 'sdk'].map((name) =>
    readFile(join(root, 'packages', name, 'package.json'), 'utf8'),
  )
  return Object.assign(
    {},
    ...(await Promise.all(files)).map((text) => JSON.parse(text).dependencies),
  )
}

/** `ajv/dist/2020.js` is of the package `ajv`. */
function packageOf(id) {
  return id.split('/', id.startsWith('@') ? 2 : 1).join('/')
}
