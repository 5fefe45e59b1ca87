import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { JobContext } from '@jadwal/sdk'
import { eventually } from '@jadwal/testkit'
import { describe, expect, test } from 'vitest'
import { readSettings } from '../src/settings.ts'
import { shellExec } from '../src/shell-exec.ts'
import { attempt, RUN_ID } from './attempt.ts'
import { processTable } from './process-table.ts'

const env = { PATH: '/usr/bin:/bin', JADWAL_EXEC_ALLOW: '/bin/echo,/bin/cat,/bin/sh,/usr/bin/env' }
const job = shellExec(readSettings({ ...env, JADWAL_SECRET_KEY: 'hidden', TZ: 'Asia/Jakarta' }))
const run = (payload: object, context: Partial<JobContext> = {}) => attempt(job, payload, context)
const sh = (script: string, context: Partial<JobContext> = {}) =>
  run({ command: script, shell: '/bin/sh' }, context)

describe('the allow-list', () => {
  test('a command of the list runs, without a shell', async () => {
    await expect(run({ command: '/bin/echo', args: ['$HOME; *'] })).resolves.toEqual({
      exitCode: 0,
      output: '$HOME; *\n',
      truncated: false,
    })
  })

  test.each(['/bin/date', 'echo', '/bin/../bin/echo', '/bin/echo '])(
    '%j is not in it, which is permanent',
    async (command) => {
      await expect(run({ command })).rejects.toMatchObject({
        name: 'PermanentError',
        message: expect.stringContaining(`${JSON.stringify(command)} may not be run here`),
      })
    },
  )

  test('a script needs its shell in the list, not the commands that it calls', async () => {
    await expect(sh('date >/dev/null && echo done')).resolves.toMatchObject({ output: 'done\n' })
    const other = run({ command: 'echo', shell: '/bin/bash' })
    await expect(other).rejects.toMatchObject({ name: 'PermanentError' })
  })

  test('a worker without a list runs nothing', async () => {
    const strict = shellExec(readSettings({}))
    const refused = attempt(strict, { command: '/bin/echo' })
    await expect(refused).rejects.toThrow('JADWAL_EXEC_ALLOW of the worker allows nothing')
  })
})

describe('what a command gets', () => {
  test('its environment is small and holds none of the worker’s secrets', async () => {
    const tickAt = new Date('2026-09-01T10:00:00Z')
    const result = await run(
      { command: '/usr/bin/env', env: { MODE: 'full' } },
      { attempt: 2, schedule: 'nightly', tickAt },
    )
    const { output } = result as { output: string }
    expect(output.trim().split('\n').toSorted()).toEqual([
      'JADWAL_ATTEMPT=2',
      `JADWAL_RUN_ID=${RUN_ID}`,
      'JADWAL_SCHEDULE=nightly',
      'JADWAL_TICK_AT=2026-09-01T10:00:00.000Z',
      'MODE=full',
      'PATH=/usr/bin:/bin',
      'TZ=Asia/Jakarta',
    ])
  })

  test('it reads stdin, and need not', async () => {
    await expect(run({ command: '/bin/cat', stdin: 'hello' })).resolves.toMatchObject({
      output: 'hello',
    })
    const unread = run({ command: '/bin/echo', args: ['hi'], stdin: 'x'.repeat(1_000_000) })
    await expect(unread).resolves.toMatchObject({ output: 'hi\n' })
  })

  test('it runs in the given directory, and a script has its arguments', async () => {
    const payload = { command: 'pwd; echo "$1"', shell: '/bin/sh', args: ['a b'], cwd: '/usr' }
    await expect(run(payload)).resolves.toMatchObject({ output: '/usr\na b\n' })
  })

  test('a directory that is not there is permanent', async () => {
    const lost = run({ command: '/bin/echo', cwd: '/no/such/place' })
    await expect(lost).rejects.toMatchObject({
      name: 'PermanentError',
      message: expect.stringContaining("can't run /bin/echo in /no/such/place"),
    })
  })

  test('an executable that is not there is permanent', async () => {
    const settings = readSettings({ JADWAL_EXEC_ALLOW: '/no/such/tool' })
    const lost = attempt(shellExec(settings), { command: '/no/such/tool' })
    await expect(lost).rejects.toMatchObject({ name: 'PermanentError' })
  })
})

describe('how it ends', () => {
  test('another exit code than 0 fails with the code and the end of the output', async () => {
    await expect(sh('echo first; echo broken >&2; exit 3')).rejects.toMatchObject({
      name: 'CommandFailedError',
      code: 'EXIT_3',
      message: 'exit code 3\nfirst\nbroken',
    })
  })

  test('a command that a signal ends fails with the signal', async () => {
    await expect(sh('kill -KILL $$')).rejects.toMatchObject({ code: 'SIGKILL' })
  })

  test('of a long output the last 64 KiB are kept', async () => {
    const result = await sh('yes 1234567 | head -n 200000; echo end')
    const { output, truncated } = result as { output: string; truncated: boolean }
    expect(truncated).toBe(true)
    expect(output).toHaveLength(65_536)
    expect(output).toMatch(/1234567\nend\n$/)
  })

  test('binary output is made safe to keep', async () => {
    await expect(sh(String.raw`printf 'a\000\377b'`)).resolves.toMatchObject({
      output: 'a\uFFFD\uFFFDb',
    })
  })

  test('what a command left running in the background ends with it', async () => {
    const mark = uniqueSeconds()
    await expect(sh(`sleep ${mark} & echo started`)).resolves.toMatchObject({ output: 'started\n' })
    expect(running(mark)).toEqual([])
  })

  test('a process that left the group and holds the output open is not waited for', async () => {
    const mark = uniqueSeconds()
    const result = sh(`setsid sleep ${mark} & echo started`)
    await expect(result).resolves.toMatchObject({ output: 'started\n' })
    for (const { pid } of running(mark)) process.kill(pid, 'SIGKILL')
  })
})

describe('an abort', () => {
  test('ends the whole group and fails with the reason of the abort', async () => {
    const mark = uniqueSeconds()
    const controller = new AbortController()
    const ended = sh(`sleep ${mark} & (sleep ${mark} & wait) & wait`, { signal: controller.signal })
    const group = await eventually(() => groupOf(mark, 2))
    const reason = new Error('took too long')
    controller.abort(reason)
    await expect(ended).rejects.toBe(reason)
    expect(leftOf(group)).toEqual([])
  })

  test('kills what does not listen to SIGTERM', async () => {
    const mark = uniqueSeconds()
    const controller = new AbortController()
    const ended = sh(`trap '' TERM; sleep ${mark} & sleep ${mark}`, { signal: controller.signal })
    const group = await eventually(() => groupOf(mark, 2))
    controller.abort(new Error('took too long'))
    await expect(ended).rejects.toThrow('took too long')
    expect(leftOf(group)).toEqual([])
  })

  test('before the start starts nothing', async () => {
    const mark = uniqueSeconds()
    const ended = sh(`sleep ${mark}`, { signal: AbortSignal.abort(new Error('too late')) })
    await expect(ended).rejects.toThrow('too late')
    expect(running(mark)).toEqual([])
  })

  test('is not needed when the worker itself exits: its commands go with it', async () => {
    const mark = uniqueSeconds()
    const worker = spawn(
      process.execPath,
      ['--import', 'tsx', fileURLToPath(new URL('exiting-worker.ts', import.meta.url)), mark],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    const exited = once(worker, 'exit')
    try {
      await eventually(() => groupOf(mark, 1), { timeoutMs: 30_000 })
    } finally {
      worker.kill('SIGTERM')
    }
    await exited
    await eventually(() => expect(running(mark)).toEqual([]))
  }, 60_000)
})

/** A number of seconds to sleep that no other process of the machine sleeps. */
function uniqueSeconds(): string {
  return `${randomInt(10_000, 99_999)}.${randomInt(10_000, 99_999)}`
}

function running(mark: string) {
  return processTable().filter(({ command }) => command === `sleep ${mark} `)
}

function groupOf(mark: string, count: number): number {
  const [first, ...rest] = running(mark)
  if (!first || rest.length + 1 < count) throw new Error(`${rest.length} processes yet`)
  return first.group
}

/** What is alive in a group, and zombies that this process should have reaped. Others are the machine's to reap. */
function leftOf(group: number) {
  return processTable().filter(
    ({ group: its, state, parent }) => its === group && (state !== 'Z' || parent === process.pid),
  )
}
