// npm test: installs when needed, lints, checks types, builds, runs every test.
// npm test -- --faults runs the long fault tests instead; other arguments go to vitest.
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkNodeVersion, ensureBuilt, ensureInstalled, run, tool } from './project.mjs'

const given = process.argv.slice(2)
const faults = given.includes('--faults')
const vitestArgs = given.filter((arg) => arg !== '--faults')
/** Whoever picks tests wants these, not the checks of the whole tree. */
const checks = !faults && vitestArgs.length === 0

checkNodeVersion()
await ensureInstalled()
const failed = checks ? await runChecks() : []
await ensureBuilt()
const counts = await runTests()

for (const name of failed) process.stdout.write(`\n${name} failed: see above\n`)
process.stdout.write(`\n${counts.passed} passed, ${counts.failed + failed.length} failed\n`)
process.exitCode = failed.length > 0 || counts.code !== 0 ? 1 : 0

/** Side by side, as none of them uses more than a core for long; told in order. */
async function runChecks() {
  const folders = ['packages', 'services', 'test', 'infra']
  const all = [
    { name: 'types', file: 'tsc', args: [] },
    { name: 'lint', file: 'oxlint', args: folders },
    { name: 'format', file: 'oxfmt', args: ['--check', ...folders] },
    { name: 'arrows between packages', file: 'depcruise', args: ['packages', 'services', 'test'] },
    { name: 'unused code', file: 'knip', args: [] },
  ].map(({ name, file, args }) => ({ name, ended: run(tool(file), args, { quiet: true }) }))
  const failures = []
  for (const { name, ended } of all) {
    process.stdout.write(`${name}: `)
    const { code, output } = await ended
    process.stdout.write(code === 0 ? 'fine\n' : `\n${output}\n`)
    if (code !== 0) failures.push(name)
  }
  return failures
}

async function runTests() {
  const report = join(tmpdir(), `jadwal-test-${process.pid}.json`)
  const { code } = await run(tool('vitest'), ['run', ...reporters(report), ...vitestArgs], {
    env: faults ? { JADWAL_TEST_FAULTS: '1' } : {},
  })
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites } = JSON.parse(
      readFileSync(report, 'utf8'),
    )
    // A file that cannot even be loaded fails no test, but it fails.
    const broken = numFailedTests === 0 && code !== 0 ? Math.max(1, numFailedTestSuites) : 0
    return { code, passed: numPassedTests, failed: numFailedTests + broken }
  } catch {
    return { code: code || 1, passed: 0, failed: 1 }
  } finally {
    rmSync(report, { force: true })
  }
}

function reporters(report) {
  return ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
}
