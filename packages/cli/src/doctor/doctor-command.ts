import { Finding, findingIf, isVersionAtLeast, MOST_SKEW_MS } from '@jadwal/domain'
import type { Command } from 'commander'
import { z } from 'zod'
import { ProblemError, UnreachableError } from '../http/api-errors.ts'
import { parseAnswer } from '../http/list.ts'
import { apiCommand, type Session, type Shell, subcommand } from '../session.ts'
import { stateColor } from '../show/colors.ts'
import { oneLine } from '../show/one-line.ts'
import type { Output } from '../show/output.ts'
import { FAILED } from '../show/tell-error.ts'
import { VERSION } from '../version.ts'

const LEAST_NODE = '20.19'

const Diagnosis = z.looseObject({ version: z.string(), at: z.string(), items: z.array(Finding) })

interface DoctorOptions {
  direct: boolean
}

/** `jadwal doctor`: what is wrong, and what cures it. Gives 1 when something is broken. */
export function addDoctorCommand(shell: Shell, program: Command): void {
  const doctor = subcommand(
    program,
    'doctor',
    'Find what is wrong with the system, and what cures it',
  ).option(
    '--direct',
    'look at Redis and Postgres from this host too (REDIS_URL, DATABASE_URL)',
    false,
  )
  apiCommand<DoctorOptions>(shell, doctor, async (session, { options }) => {
    const { output } = session
    const asked = await askApi(session)
    const findings = [...ownFindings(session), ...asked]
    const isAway = asked.some(({ check, status }) => check === 'api' && status === 'broken')
    if (isAway || options.direct) findings.push(...(await lookDirectly(session)))
    const broken = findings.filter(({ status }) => status === 'broken').length
    const warnings = findings.filter(({ status }) => status === 'warning').length
    output.either({ ok: broken === 0, broken, warnings, items: findings }, () => {
      for (const finding of findings) showFinding(output, finding)
      output.heading(
        broken + warnings === 0 ? 'All is well.' : `${broken} broken, ${warnings} to look at`,
      )
    })
    return broken === 0 ? 0 : FAILED
  }).addHelpText(
    'after',
    `
Asks the api (role operator) for what it sees. When it does not answer, this command looks at Redis
and Postgres itself, where REDIS_URL and DATABASE_URL say where they are (JADWAL_PREFIX and
JADWAL_DB_SCHEMA too, where they are not "jadwal").`,
  )
}

/** What this host tells of itself. */
function ownFindings({ api }: Session): Finding[] {
  const { protocol, hostname } = new URL(api.connection.url)
  const isPlain = protocol === 'http:' && !/^(localhost|127\.|\[::1\])/.test(hostname)
  return [
    findingIf(!isVersionAtLeast(process.versions.node, LEAST_NODE), 'broken', {
      check: 'cli.node',
      found: `this command runs on Node ${process.versions.node}`,
      cure: `It needs Node ${LEAST_NODE} or later.`,
    }),
    findingIf(isPlain, 'warning', {
      check: 'cli.tls',
      found: `it asks ${api.connection.url}`,
      cure: 'Your token goes over the wire as it is: use https.',
    }),
  ]
}

async function askApi({ api, terminal }: Session): Promise<Finding[]> {
  const before = terminal.clock.now().getTime()
  try {
    const { version, at, items } = parseAnswer(Diagnosis, await api.get('/doctor'))
    const now = terminal.clock.now().getTime()
    const atMs = Date.parse(at)
    // The answer was written between question and answer, whenever that was.
    const skewMs = atMs < before ? atMs - before : Math.max(0, atMs - now)
    return [
      { check: 'api', status: 'ok', found: `${api.connection.url} answers` },
      findingIf(version !== VERSION, 'warning', {
        check: 'cli.version',
        found: `this command is ${VERSION}, the api ${version}`,
        cure: 'Use the command of the same release.',
      }),
      findingIf(Math.abs(skewMs) > MOST_SKEW_MS, 'warning', {
        check: 'cli.clock',
        found: `the clock of the api is ${Math.abs(skewMs)} ms ${skewMs > 0 ? 'ahead of' : 'behind'} this host's`,
        cure: 'Let both hosts keep time by NTP (chrony, systemd-timesyncd).',
      }),
      ...items,
    ]
  } catch (error) {
    if (terminal.stop.aborted) throw error
    if (error instanceof UnreachableError)
      return [apiFinding(error.message, 'Start it (jadwal up), or set JADWAL_URL.')]
    if (error instanceof ProblemError) {
      const cure =
        error.status === 401
          ? 'Put a token into JADWAL_TOKEN ("jadwal token create NAME --role operator" makes one).'
          : 'See the log of the api.'
      const { detail = '' } = error.document
      return [
        apiFinding(
          `the api refuses (${error.status}): ${detail}`,
          error.status === 403 ? 'It needs the role operator.' : cure,
        ),
      ]
    }
    throw error
  }
}

function apiFinding(found: string, cure: string): Finding {
  return { check: 'api', status: 'broken', found: found.split('\n')[0] ?? '', cure }
}

/** What takes long to load is loaded only then. */
async function lookDirectly({ terminal }: Session): Promise<Finding[]> {
  const { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl, ...env } = terminal.env
  if (!redisUrl && !databaseUrl)
    return [
      {
        check: 'direct',
        status: 'unknown',
        found: 'Redis and Postgres were not looked at from here',
        cure: 'Set REDIS_URL and DATABASE_URL to have them looked at without the api.',
      },
    ]
  const { lookAtPostgres, lookAtRedis } = await import('./look-directly.ts')
  const { clock } = terminal
  const prefix = env['JADWAL_PREFIX'] || 'jadwal'
  const schema = env['JADWAL_DB_SCHEMA'] || 'jadwal'
  const found = await Promise.all([
    redisUrl ? lookAtRedis(redisUrl, { clock, prefix, version: VERSION }) : [],
    databaseUrl ? lookAtPostgres(databaseUrl, { clock, schema }) : [],
  ])
  return found.flat()
}

const SIGNS = { ok: '✓', warning: '!', broken: '✗', unknown: '?' } as const

function showFinding(output: Output, { check, status, found, cure }: Finding): void {
  const sign = output.paint(stateColor(status), SIGNS[status])
  output.raw(`${sign} ${check.padEnd(26)} ${oneLine(found)}`)
  if (cure !== undefined) output.raw(`  ${' '.repeat(26)} ${output.paint('dim', oneLine(cure))}`)
}
