import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
function namesIn(text: string, form: RegExp): string[] {
  return Array.from(text.matchAll(form), ([, name = '']) => name)
}

/** The paths of all sources of services and packages, tests aside. */
function sources(): string[] {
  const roots = ['services', 'packages'].flatMap((part) =>
    readdirSync(`${ROOT}${part}`).map((name) => `${ROOT}${part}/${name}/src`),
  )
  return roots
    .filter((root) => existsSync(root))
    .flatMap((root) =>
      readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => `${root}/${path}`),
    )
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
}

test('docs/deploy.md has a row for each metric there is, and for no other', () => {
  const registered = sources()
    .map((path) => readFileSync(path, 'utf8'))
    // Elsewhere names that begin so are those of cookies and databases.
    .filter((text) => text.includes("from 'prom-client'"))
    .flatMap((text) => namesIn(text, /['"`](jadwal_\w+)['"`]/g))
  const documented = namesIn(
    readFileSync(`${ROOT}docs/deploy.md`, 'utf8'),
    /^\| `(jadwal_\w+)(?:\{[\w,]+\})?` \|/gm,
  )
  expect(registered).toContain('jadwal_runs_total')
  expect(documented.toSorted()).toEqual(Array.from(new Set(registered)).toSorted())
})
