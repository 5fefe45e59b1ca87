import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { runInProcess } from './run-in-process.ts'

const DOCUMENT = readFileSync(join(PROJECT_ROOT, 'docs', 'cli.md'), 'utf8')
/** Described in docs/import.md. */
const ELSEWHERE = new Set(['import k8s', 'import bullmq'])

const EXAMPLES = DOCUMENT.split('\n')
  .filter((line) => line.startsWith('jadwal '))
  .map((line) => line.replace(/\s+#.*$/, ''))

function words(line: string): string[] {
  return Array.from(line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g), ([, single, double, plain]) =>
    String(single ?? double ?? plain),
  )
}

/** Files have what any command reads, and no api is there. */
async function run(args: string[]) {
  const files = new Proxy<Record<string, string>>({}, { get: () => '{}', has: () => true })
  return await runInProcess(args, '{}', files)
}

test.each(EXAMPLES)('%s is a command line', async (line) => {
  const { exitCode, report } = await run(words(line).slice(1))
  expect({ exitCode: exitCode === 2, report: exitCode === 2 ? report : '' }).toEqual({
    exitCode: false,
    report: '',
  })
})

test('the document has every command', async () => {
  const leaves = await leavesBelow([])
  expect(leaves.length).toBeGreaterThan(60)
  const missing = leaves.filter(
    (leaf) =>
      !ELSEWHERE.has(leaf) && !EXAMPLES.some((line) => `${line} `.startsWith(`jadwal ${leaf} `)),
  )
  // Printing the completion stands in the first example, within a line of the shell.
  expect(missing).toEqual(['completion'])
})

async function leavesBelow(path: string[]): Promise<string[]> {
  const { output } = await run(['complete', '--', ...path, ''])
  const names = output.split('\n').filter((name) => name !== '' && name !== 'help')
  const isLeaf = names.length === 0 || path[0] === 'completion'
  if (isLeaf) return [path.join(' ')]
  return (await Promise.all(names.map((name) => leavesBelow([...path, name])))).flat()
}
