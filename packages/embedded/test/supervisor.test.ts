import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { eventually } from '@jadwal/testkit'
import { describe, expect, test, vi } from 'vitest'
import { isAlive } from '../src/process-identity.ts'
import { FakeProject, READY } from './fake-project.ts'

vi.setConfig({ testTimeout: 90_000 })

const ALL = ['api', 'recorder', 'scheduler.1', 'scheduler.2', 'worker.1', 'worker.2']

describe('npm start', () => {
  test('runs every service and prints last where to look and the admin token', async () => {
    await using project = new FakeProject()
    const supervisor = project.start()
    const token = await supervisor.waitForLog(READY)
    expect([...(await project.services()).keys()].toSorted()).toEqual(ALL)
    expect(supervisor.logs.slice(-5).join('\n')).toContain(project.data)
    expect(supervisor.logs.findLast((line) => line !== '')).toBe(token)
    expect(statSync(join(project.data, 'admin-token')).mode & 0o777).toBe(0o600)
  })

  test('shows the lines of a service with its name, for the eye', async () => {
    await using project = new FakeProject()
    const supervisor = project.start()
    const line = await supervisor.waitForLog(/^worker\.2 .*started/)
    expect(line).toMatch(/^worker\.2 +\| \d\d:\d\d:\d\d\.\d{3} INFO {2}started port=9/)
  })

  test('stops in order: schedulers, workers, the recorder, the api', async () => {
    await using project = new FakeProject()
    const supervisor = project.start({ FAKE_DRAIN_MS: '100' })
    await supervisor.waitForLog(READY)
    expect(await supervisor.stop()).toBe(0)
    const stops = project.events().filter((event) => !event.includes(' env '))
    expect(stops).toEqual([
      'scheduler drains',
      'scheduler drains',
      'scheduler ended',
      'scheduler ended',
      'worker drains',
      'worker drains',
      'worker ended',
      'worker ended',
      'recorder drains',
      'recorder ended',
      'api drains',
      'api ended',
    ])
    expect((await project.services()).size).toBe(0)
  })

  test('takes a Ctrl-C that comes twice at once for one, and hurries at the second', async () => {
    await using project = new FakeProject()
    const supervisor = project.start({ FAKE_DRAIN_MS: '60000' })
    await supervisor.waitForLog(READY)
    supervisor.child.kill('SIGINT')
    supervisor.child.kill('SIGINT')
    await eventually(() => expect(project.events()).toContain('scheduler drains'))
    expect(project.events()).not.toContain('scheduler hurries')
    await eventually(() => {
      supervisor.child.kill('SIGINT')
      expect(project.events()).toContain('scheduler hurries')
    })
    expect(await supervisor.exitCode()).toBe(0)
    expect((await project.services()).size).toBe(0)
  })

  test('starts again what dies', async () => {
    await using project = new FakeProject()
    const supervisor = project.start()
    await supervisor.waitForLog(READY)
    const killed = (await project.services()).get('worker.1')
    process.kill(killed?.pid ?? 0, 'SIGKILL')
    await supervisor.waitForLog('ended (SIGKILL); starts again in 0.5 s')
    await eventually(async () => {
      const again = (await project.services()).get('worker.1')
      expect(again?.pid).toBeGreaterThan(0)
      expect(again?.pid).not.toBe(killed?.pid)
    })
  })

  test('starts at once again what drained at SIGUSR2', async () => {
    await using project = new FakeProject()
    const supervisor = project.start({ FAKE_DRAIN_MS: '100' })
    await supervisor.waitForLog(READY)
    const old = (await project.services()).get('worker.1')
    process.kill(old?.pid ?? 0, 'SIGUSR2')
    await supervisor.waitForLog('ended (0); starts again at once')
    await eventually(async () => {
      const again = (await project.services()).get('worker.1')
      expect(again?.pid).toBeGreaterThan(0)
      expect(again?.pid).not.toBe(old?.pid)
    })
    expect(project.events().filter((event) => event.startsWith('worker drains'))).toHaveLength(1)
  })

  test('passes SIGUSR2 on, one service of a kind after the other, and lives on', async () => {
    await using project = new FakeProject()
    const supervisor = project.start({ FAKE_DRAIN_MS: '100' })
    await supervisor.waitForLog(READY)
    const old = await project.services()
    supervisor.child.kill('SIGUSR2')
    await supervisor.waitForLog('every service was started again')
    const again = await project.services()
    expect([...again.keys()].toSorted()).toEqual(ALL)
    for (const name of ALL) expect(again.get(name)?.pid).not.toBe(old.get(name)?.pid)
    const workers = project.events().filter((event) => event.startsWith('worker '))
    expect(workers.slice(2).map((event) => event.split(' ')[1])).toEqual([
      'drains',
      'ended',
      'env',
      'drains',
      'ended',
      'env',
    ])
    expect(await supervisor.stop()).toBe(0)
  })

  test('SIGUSR2 neither ends a start that has no services yet nor one that stops', async () => {
    await using project = new FakeProject()
    const first = project.start({ FAKE_DRAIN_MS: '60000' })
    await first.waitForLog(READY)
    const stopped = first.stop()
    await first.waitForLog('stopping;')
    const second = project.start()
    await second.waitForLog('waiting for the last start')
    first.child.kill('SIGUSR2')
    second.child.kill('SIGUSR2')
    await eventually(() => {
      first.child.kill('SIGINT')
      expect(project.events()).toContain('scheduler hurries')
    })
    expect(await stopped).toBe(0)
    await second.waitForLog(READY)
    expect(await second.stop()).toBe(0)
  })

  test('stops everything when a service has a wrong environment, and says so last', async () => {
    await using project = new FakeProject()
    const supervisor = project.start({ FAKE_RECORDER: '78' })
    expect(await supervisor.exitCode()).toBe(78)
    expect(supervisor.logs.slice(-3).join('\n')).toContain('jadwal recorder: wrong environment')
    expect((await project.services()).size).toBe(0)
  })

  test('names what is wrong with its own environment', async () => {
    await using project = new FakeProject()
    const supervisor = project.start({ JADWAL_GRACE_MS: 'soon', JADWAL_PORT: '70000' })
    expect(await supervisor.exitCode()).toBe(78)
    expect(supervisor.logs.join('\n')).toMatch(/JADWAL_PORT[^]*JADWAL_GRACE_MS/)
  })

  test.each(['999.1.1.1', '192.0.2.1'])('refuses to start on the host %s', async (host) => {
    await using project = new FakeProject()
    const supervisor = project.start({ JADWAL_HOST: host })
    expect(await supervisor.exitCode()).toBe(78)
    expect(supervisor.logs.join('\n')).toMatch(/JADWAL_HOST must be an address of this machine/)
  })

  test('refuses a data folder on which another one runs, and does it no harm', async () => {
    await using project = new FakeProject()
    const first = project.start()
    await first.waitForLog(READY)
    const second = project.start()
    expect(await second.exitCode()).toBe(1)
    expect(second.logs.join('\n')).toContain(`another npm start (process ${first.pid})`)
    expect([...(await project.services()).keys()].toSorted()).toEqual(ALL)
  })

  test('waits for one that is still stopping', async () => {
    await using project = new FakeProject()
    const first = project.start({ FAKE_DRAIN_MS: '500' })
    await first.waitForLog(READY)
    const stopped = first.stop()
    await first.waitForLog('stopping;')
    const second = project.start()
    await second.waitForLog(READY)
    expect(await stopped).toBe(0)
  })

  test('ends what a killed one left behind before it starts its own', async () => {
    await using project = new FakeProject()
    const first = project.start({ FAKE_DRAIN_MS: '8000' })
    await first.waitForLog(READY)
    const left = [...(await project.services()).values()]
    await first.kill()
    const second = project.start()
    await second.waitForLog('the last start was cut short')
    await second.waitForLog(READY)
    expect(await Promise.all(left.map(isAlive))).toEqual(left.map(() => false))
    expect(await second.stop()).toBe(0)
  })

  test('keeps its admin token over restarts, or takes the one it is given', async () => {
    await using project = new FakeProject()
    const first = project.start()
    const token = await first.waitForLog(READY)
    await first.stop()
    expect(await project.start().waitForLog(READY)).toBe(token)
    await using other = new FakeProject()
    const line = await other.start({ JADWAL_ADMIN_TOKEN: 'of-my-own-choice' }).waitForLog(READY)
    expect(line).toContain('of-my-own-choice')
  })

  test('gives the admin token to the api alone', async () => {
    await using project = new FakeProject()
    // As from the shell in which somebody uses the command line.
    const token = 'of-my-own-choice'
    const supervisor = project.start({ JADWAL_ADMIN_TOKEN: token, JADWAL_TOKEN: token })
    await supervisor.waitForLog(READY)
    expect(whoHas(project, token)).toEqual(['api'])
  })

  test('gives workers the token of a viewer, which it makes and keeps, or the one it is given', async () => {
    await using project = new FakeProject()
    const first = project.start()
    await first.waitForLog(READY)
    const file = join(project.data, 'viewer-token')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const made = readFileSync(file, 'utf8').trim()
    expect(whoHas(project, `"viewer":"${made}"`)).toEqual(['api'])
    expect(whoHas(project, `"token":"${made}"`)).toEqual(['worker', 'worker'])
    expect(whoHas(project, made)).toHaveLength(3)
    await first.stop()
    await project.start({ JADWAL_TOKEN: 'for-the-workers' }).waitForLog(READY)
    expect(whoHas(project, `"viewer":"${made}"`)).toEqual(['api', 'api'])
    expect(whoHas(project, '"token":"for-the-workers"')).toEqual(['worker', 'worker'])
    expect(readFileSync(file, 'utf8').trim()).toBe(made)
  })

  test('takes the next port when that of the api is taken', async () => {
    await using project = new FakeProject()
    await using taken = await listen()
    const supervisor = project.start({ JADWAL_PORT: String(taken.port) })
    const page = await supervisor.waitForLog(/page +http/)
    expect(Number(page.split(':').at(-1)?.replace('/', ''))).toBeGreaterThan(taken.port)
  })
})

/** The services whose environment had a text. */
function whoHas(project: FakeProject, text: string): (string | undefined)[] {
  const told = project.events().filter((event) => event.includes(text))
  return told.map((event) => event.split(' ')[0])
}

async function listen(): Promise<AsyncDisposable & { port: number }> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
