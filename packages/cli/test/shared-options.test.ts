import { expect, test } from 'vitest'
import { runInProcess } from './run-in-process.ts'

// Nothing listens at these: each command tells where it asked.
const [ONE, OTHER] = ['http://127.0.0.1:3', 'http://127.0.0.1:4']

test.each([
  [['--url', ONE, 'whoami'], ONE],
  [[`--url=${ONE}`, 'whoami'], ONE],
  [['--url', ONE, 'runs', 'list'], ONE],
  [['runs', '--url', ONE, 'list'], ONE],
  [['alerts', '--url', ONE, 'channels', 'list'], ONE],
  [['runs', 'list', '--url', ONE], ONE],
  [['--url', OTHER, 'runs', '--url', ONE, 'list'], ONE],
  [['--url', OTHER, 'runs', 'list', '--url', ONE], ONE],
])('%j asks %s', async (args, url) => {
  const { exitCode, report } = await runInProcess(args)
  expect(exitCode).toBe(1)
  expect(report).toContain(`the api at ${url} cannot be reached`)
})

test('--json, --utc and --token-file hold from before the command, too', async () => {
  const { report } = await runInProcess(['--json', '--utc', 'jobs'])
  expect(JSON.parse(report)).toEqual({ detail: expect.stringContaining('cannot be reached') })
  const told = await runInProcess(['--token-file', 'nowhere', 'jobs'])
  expect(told).toMatchObject({
    exitCode: 2,
    report: expect.stringContaining('--token-file nowhere cannot be read'),
  })
  const imported = await runInProcess(['--json', 'import', 'crontab', '-'], '0 1 * * * /bin/x')
  expect(JSON.parse(imported.report)).toMatchObject({ source: 'standard input' })
})

test.each([
  [['--url', ONE, 'up'], '--url'],
  [['--utc', 'completion', 'bash'], '--utc'],
  [['--url', ONE, 'import', 'crontab', '-'], '--url'],
  [['import', '--token-file', 'x', 'crontab', '-'], '--token-file'],
  [['--nothing', 'whoami'], '--nothing'],
])('%j is refused: the command has no such option', async (args, option) => {
  const { exitCode, output, report } = await runInProcess(args)
  expect([exitCode, output]).toEqual([2, ''])
  expect(report).toContain(`error: unknown option '${option}'`)
})

async function complete(...words: string[]): Promise<string[]> {
  const { output } = await runInProcess(['complete', '--', ...words])
  return output.trim().split('\n')
}

test('help and completion know them', async () => {
  const { output } = await runInProcess(['--help'])
  expect(output).toMatch(/Options of all commands that ask the api:[^]*--url <url>/)
  expect(await complete('--u')).toEqual(['--utc', '--url'])
  expect(await complete('--url', ONE, 'ru')).toEqual(['runs'])
  expect(await complete('--url', ONE, 'runs', 'list', '--state', 'de')).toEqual(['dead'])
})
