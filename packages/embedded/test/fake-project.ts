import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { identifyProcess, type ProcessIdentity } from '@jadwal/embedded'
import {
  eventually,
  makeTempFolder,
  PROJECT_ROOT,
  removeTempFolder,
  type ServiceProcess,
  spawnMain,
} from '@jadwal/testkit'

/** A project with the real supervisor and services that only pretend, each test its own. */
export class FakeProject implements AsyncDisposable {
  readonly root = makeTempFolder('supervisor')
  readonly data = join(this.root, 'data')
  readonly #supervisors: ServiceProcess[] = []

  constructor() {
    symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(this.root, 'node_modules'))
    this.#place('packages/embedded/dist/main.js')
    writeFileSync(this.#folderOf('packages/db/dist/migrate.js'), '')
    writeFileSync(join(this.root, 'package.json'), '{ "type": "module" }')
    const fake = join(import.meta.dirname, 'fake-service.mjs')
    for (const service of ['api', 'recorder', 'scheduler', 'worker']) {
      copyFileSync(fake, this.#folderOf(`services/${service}/dist/main.js`))
    }
  }

  /** Starts the supervisor; without servers unless the test is about them. */
  start(env: Readonly<Record<string, string>> = {}): ServiceProcess {
    const outside = {
      REDIS_URL: 'redis://127.0.0.1:1',
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      SMTP_URL: 'smtp://127.0.0.1:1',
    }
    const main = join(this.root, 'packages/embedded/dist/main.js')
    const all = { ...outside, JADWAL_DATA: this.data, JADWAL_PORT: '0', ...env }
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
    const supervisor = spawnMain(main, given)
    this.#supervisors.push(supervisor)
    return supervisor
  }

  /** What happened to the services, in order. */
  events(): string[] {
    const file = join(this.data, 'events')
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  }

  /** The services that are listed as running and do run. */
  async services(): Promise<Map<string, ProcessIdentity>> {
    const file = join(this.data, 'processes.json')
    const listed = JSON.parse(readFileSync(file, 'utf8')) as (ProcessIdentity & { name: string })[]
    const living = await Promise.all(listed.map(({ pid }) => identifyProcess(pid)))
    const pairs = listed.flatMap((each, index) => {
      const found = living[index]
      return found?.startedAt === each.startedAt ? [[each.name, found] as const] : []
    })
    return new Map(pairs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const supervisor of this.#supervisors) {
      if (supervisor.child.exitCode === null) await supervisor.stop()
    }
    if (existsSync(join(this.data, 'processes.json'))) {
      await eventually(async () => {
        if ((await this.services()).size > 0) throw new Error('services outlive their supervisor')
      })
    }
    removeTempFolder(this.root)
  }

  #place(file: string): void {
    cpSync(join(PROJECT_ROOT, file), this.#folderOf(file))
  }

  #folderOf(file: string): string {
    const place = join(this.root, file)
    mkdirSync(join(place, '..'), { recursive: true })
    return place
  }
}

/** The line that only a start that is ready prints. */
export const READY = 'admin token'
