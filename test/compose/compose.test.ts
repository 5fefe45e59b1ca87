import { execFileSync, spawnSync } from 'node:child_process'
import { readScheduleFile } from '@jadwal/domain'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  type ComposeService,
  composeVariables,
  projectPath,
  readComposeFile,
  readProjectFile,
} from './compose-file.ts'

const PORTS = { api: '3000', scheduler: '9101', worker: '9102', recorder: '9103' }
const STEPS = ['secrets', 'migrate']
/** What a service takes beyond its grace before it ends itself. */
const CLOSING_MS = 10_000
/** Not in the compose file: jobs of one's own are an override, and without tokens only a loopback address is served. */
const OF_OVERRIDES = new Set(['JADWAL_JOBS', 'JADWAL_AUTH'])

const { services, volumes } = readComposeFile()

function service(name: string): ComposeService {
  const found = services[name]
  if (!found) throw new Error(`the compose file has no service ${name}`)
  return found
}

describe('the compose file', () => {
  test('runs all parts of Jadwal', () => {
    const names = [...Object.keys(PORTS), ...STEPS, 'postgres', 'redis', 'prometheus']
    expect(Object.keys(services).toSorted()).toEqual(names.toSorted())
  })

  test('runs two schedulers', () => {
    expect(service('scheduler').deploy?.replicas).toBe(2)
  })

  test('gives nothing that has replicas a fixed name or a port of the host', () => {
    expect(Object.values(services).filter((each) => 'container_name' in each)).toEqual([])
    const published = Object.keys(services).filter((name) => services[name]?.ports)
    expect(published).toEqual(['api', 'prometheus'])
  })

  test('publishes on the loopback address unless told otherwise', () => {
    expect(service('api').ports).toEqual(['127.0.0.1:3000:3000'])
    expect(service('prometheus').ports).toEqual(['127.0.0.1:9090:9090'])
  })

  test.each(Object.entries(services))('runs %s as an unprivileged user', (_name, { user }) => {
    expect(['node', 'postgres', 'redis', 'nobody']).toContain(user)
  })

  test.each(Object.entries(PORTS))(
    'runs %s on its port, healthy when it is ready',
    (name, port) => {
      const { environment, healthcheck, command } = service(name)
      expect(command).toEqual([name])
      expect(environment).toMatchObject({ JADWAL_PORT: port, JADWAL_HOST: '0.0.0.0' })
      expect(healthcheck?.test).toEqual(['CMD', 'jadwal-check-ready'])
    },
  )

  test.each(Object.keys(PORTS))('lets %s drain before it is killed', (name) => {
    const { stop_grace_period: period = '0s', environment } = service(name)
    const graceMs = Number(environment['JADWAL_GRACE_MS'])
    expect(Number(period.replace('s', '')) * 1_000).toBeGreaterThan(graceMs + CLOSING_MS)
  })

  test('checks the health of everything but the steps that end', () => {
    const unchecked = Object.keys(services).filter((name) => !services[name]?.healthcheck)
    expect(unchecked.toSorted()).toEqual(STEPS.toSorted())
  })

  test('starts a service when what it needs at its start is there', () => {
    const done = { condition: 'service_completed_successfully' }
    const healthy = { condition: 'service_healthy' }
    expect(service('postgres').depends_on).toEqual({ secrets: done })
    expect(service('migrate').depends_on).toEqual({ postgres: healthy })
    for (const name of ['scheduler', 'recorder', 'api'])
      expect(service(name).depends_on).toEqual({ migrate: done, redis: healthy })
    expect(service('worker').depends_on).toEqual({ secrets: done, redis: healthy })
  })

  test('restarts what ends, but not the steps', () => {
    const restarted = Object.keys(services).filter((name) => services[name]?.restart)
    expect(restarted).toEqual(Object.keys(services).filter((name) => !STEPS.includes(name)))
  })

  test('keeps the worker away from the database', () => {
    const { environment, volumes: mounted } = service('worker')
    expect(Object.keys(environment).filter((name) => name.startsWith('DATABASE'))).toEqual([])
    expect(mounted.filter((volume) => volume.startsWith('database-secrets'))).toEqual([])
  })

  test('keeps every service but the api away from the admin token, and gives workers the one of a viewer', () => {
    const mounting = Object.keys(services).filter((name) =>
      service(name).volumes.some((volume) => volume.startsWith('api-secrets')),
    )
    expect(mounting).toEqual(['secrets', 'api'])
    const { environment, volumes: mounted } = service('worker')
    const file = environment['JADWAL_TOKEN_FILE']
    expect(service('api').environment['JADWAL_VIEWER_TOKEN_FILE']).toBe(file)
    expect(mounted).toContain('viewer-secrets:/run/jadwal/viewer:ro')
    expect(readProjectFile('infra/docker/make-secrets.sh')).toContain(`keep ${file} `)
  })

  test('makes the folders of all secrets in the image, for the user that writes them', () => {
    const folders = service('secrets').volumes.map((volume) => volume.split(':')[1])
    const [made = ''] = /^RUN install -d -o node .*$/m.exec(
      readProjectFile('infra/docker/Dockerfile'),
    ) ?? ['']
    expect(folders.filter((folder) => !made.split(' ').includes(folder ?? ''))).toEqual([])
  })

  test('lets only the step that makes them write secrets', () => {
    const writing = Object.keys(services).filter((name) =>
      service(name).volumes.some((volume) => /^\w+-secrets:[^:]*$/.test(volume)),
    )
    expect(writing).toEqual(['secrets'])
  })

  test('holds no secret of its own', () => {
    const values = Object.values(services).flatMap(({ environment }) => Object.entries(environment))
    const secrets = values.filter(([name]) => /TOKEN|PASSWORD|SECRET/.test(name))
    expect(secrets.filter(([, value]) => !/^(\/run\/jadwal\/.*)?$/.test(value))).toEqual([])
    expect(readProjectFile('docker-compose.yml')).not.toMatch(/:\/\/[^/\s]+:[^/\s]+@/)
  })

  test('keeps Redis on disk and never lets it drop a key', () => {
    const command = service('redis').command?.join(' ')
    expect(command).toContain('--appendonly yes --appendfsync everysec')
    expect(command).toContain('--maxmemory 1gb --maxmemory-policy noeviction')
    expect(service('redis').volumes).toEqual(['redis:/data'])
  })

  test('declares every volume it mounts', () => {
    const mounted = Object.values(services).flatMap((each) => each.volumes)
    const named = mounted
      .map((volume) => volume.split(':')[0] ?? '')
      .filter((name) => /^\w/.test(name))
    expect(new Set(named)).toEqual(new Set(Object.keys(volumes)))
  })

  test('is explained whole by .env.example, with the same defaults', () => {
    const lines = readProjectFile('.env.example').split('\n')
    const assignments = lines
      .filter((line) => /^[A-Z]/.test(line))
      .map((line) => line.split('=', 2))
    const example = Object.fromEntries(assignments) as Record<string, string>
    expect(example).toEqual(
      Object.fromEntries(composeVariables(readProjectFile('docker-compose.yml'))),
    )
  })

  test.each(documentedVariables())(
    'gives $name to $reader, with the default that docs/deploy.md tells',
    ({ name, reader, preset }) => {
      const { environment } = service(reader)
      const given = environment[name] ?? environment[`${name}_FILE`]
      // Some rows tell theirs in words.
      expect(given).toMatch(/^\d+$/.test(preset) ? new RegExp(`^${preset}$`) : '')
    },
  )

  test('fires a schedule file that is valid', () => {
    const file = readScheduleFile(parse(readProjectFile('infra/docker/schedules.yaml')))
    expect(file).toMatchObject({ ok: true })
  })

  const compose = composeCommand()
  test.skipIf(compose === undefined)('is accepted by Docker Compose', () => {
    const [command = '', ...args] = compose ?? []
    const file = projectPath('docker-compose.yml')
    const checked = spawnSync(command, [...args, '-f', file, 'config', '-q'], { encoding: 'utf8' })
    expect(checked).toMatchObject({ status: 0, stderr: '' })
  })
})

describe('Prometheus', () => {
  interface Scrape {
    job_name: string
    authorization?: { credentials_file: string }
    dns_sd_configs?: { names: string[]; type: string; port: number }[]
  }
  const config = parse(readProjectFile('infra/prometheus/prometheus.yml'), { merge: true })
  const scrapes: Scrape[] = config.scrape_configs

  test.each(Object.entries(PORTS))('finds every replica of %s by DNS', (name, port) => {
    const scrape = scrapes.find((each) => each.job_name === name)
    expect(scrape?.dns_sd_configs).toMatchObject([{ names: [name], type: 'A', port: Number(port) }])
  })

  test.each(Object.keys(PORTS))('shows %s the token that it asks for', (name) => {
    const file = service(name).environment['JADWAL_METRICS_TOKEN_FILE']
    expect(scrapes.find((each) => each.job_name === name)?.authorization).toEqual({
      credentials_file: file,
    })
    expect(service('prometheus').volumes).toContain('metrics-secrets:/run/jadwal/metrics:ro')
  })
})

/** Each row of the table of variables in docs/deploy.md, once for each service that reads the variable. */
function documentedVariables(): { name: string; reader: string; preset: string }[] {
  const rows = readProjectFile('docs/deploy.md').matchAll(
    /^\| (`[A-Z].*?) \| (.*?) \| (.*?) \| .*\|$/gm,
  )
  const found: { name: string; reader: string; preset: string }[] = []
  let last: string[] = []
  for (const [, names = '', preset = '', readBy = ''] of rows) {
    if (readBy === 'all') last = Object.keys(PORTS)
    else if (readBy !== 'the same') last = readBy.split(', ')
    for (const [, name = ''] of names.matchAll(/`(\w+)`/g))
      if (!OF_OVERRIDES.has(name))
        found.push(...last.map((reader) => ({ name, reader, preset: preset.replaceAll('`', '') })))
  }
  if (found.length === 0) throw new Error('docs/deploy.md has no table of variables')
  return found
}

function composeCommand(): string[] | undefined {
  return [['docker-compose'], ['docker', 'compose']].find(([command = '', ...args]) => {
    try {
      execFileSync(command, [...args, 'version'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
}
