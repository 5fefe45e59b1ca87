import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readScheduleFile, type ScheduleFile } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { CASES, runCli, runNode, runUnread } from './run-cli.ts'

function readSchedules(output: string): ScheduleFile['schedules'] {
  const read = readScheduleFile(parse(output))
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return read.file.schedules
}

test.each([
  ['web-server', [], 6],
  ['system', ['--system', '--timezone', 'Europe/Berlin'], 5],
  ['tricky', [], 7],
])('takes over %s.crontab to the letter', async (name, options, schedules) => {
  const ended = await runCli(['import', 'crontab', `${name}.crontab`, ...options])
  expect(ended.report).toBe(await readFile(`${CASES}${name}.report.txt`, 'utf8'))
  expect(ended.output).toBe(await readFile(`${CASES}${name}.schedules.txt`, 'utf8'))
  expect(ended.exitCode).toBe(0)
  expect(readSchedules(ended.output)).toHaveLength(schedules)
})

test('reads standard input, and a file with the line ends of Windows and no last one', async () => {
  const crontab = '# nightly\r\n0 1 * * *\t/bin/nightly\r\n@hourly /bin/hourly'
  const ended = await runCli(['import', 'crontab', '-', '--timezone', 'UTC'], crontab)
  expect(ended.exitCode).toBe(0)
  expect(readSchedules(ended.output).map(({ spec }) => [spec.cron, spec.payload])).toEqual([
    ['0 1 * * *', { command: '/bin/nightly', shell: '/bin/sh' }],
    ['@hourly', { command: '/bin/hourly', shell: '/bin/sh' }],
  ])
  expect(ended.report).toContain('standard input: 2 schedules taken over, 0 lines not.')
})

test('a file that cannot be read is one message and exit code 1', async () => {
  const ended = await runCli(['import', 'crontab', 'nowhere.crontab'])
  expect(ended).toMatchObject({ exitCode: 1, output: '' })
  expect(ended.report).toMatch(/^jadwal: nowhere\.crontab cannot be read: ENOENT.*\n$/)
})

test('a reader that has seen enough is no error', async () => {
  const ended = await runUnread(['import', 'crontab', '-'], '* * * * * /bin/true\n'.repeat(2_000))
  expect(ended.exitCode).toBe(0)
  expect(ended.report).toMatch(/^standard input: 2000 schedules taken over/)
})

test('the command starts from its own file', async () => {
  const bin = fileURLToPath(new URL('../bin/jadwal.mjs', import.meta.url))
  const ended = await runNode([bin, 'import', 'crontab', '-'], '* * * * * /bin/true\n')
  expect(ended.exitCode).toBe(0)
  expect(readSchedules(ended.output)).toMatchObject([{ spec: { timezone: 'Asia/Jakarta' } }])
})
