import { isTimezone } from '@jadwal/domain'
import { type Command, InvalidArgumentError } from 'commander'
import { redisUrlProblem } from './redis-url-problem.ts'
import type { ImportBullmqOptions } from './import-bullmq.ts'
import type { ImportCrontabOptions } from './import-crontab.ts'
import type { ImportK8sOptions } from './import-k8s.ts'
import { readMapping } from './job-map.ts'
import { append } from './options/values.ts'
import { type Shell, subcommand } from './session.ts'

const EXIT_CODES = `
Exit codes: 0 all was read (what has no counterpart is in the report), 1 it can't be read,
2 the command line is wrong.`

/** `jadwal import`: makes a schedule file of what exists. What each needs is loaded when it is asked for. */
export function addImportCommands({ terminal, exitWith }: Shell, program: Command): void {
  const imports = subcommand(
    program,
    'import',
    'Make a schedule file of what exists: the file to standard output, the report to standard error',
  )
  importCommand(imports, 'crontab', 'Take over a crontab')
    .argument('<file>', 'the crontab; - reads standard input')
    .option('--system', 'the file names a user before each command, as /etc/crontab does', false)
    .option('--timezone <zone>', "zone of lines above any CRON_TZ (default: the host's)", readZone)
    .action(async (file: string, options: ImportCrontabOptions) => {
      const { importCrontab } = await import('./import-crontab.ts')
      exitWith(await importCrontab(terminal, file, options))
    })
  importCommand(imports, 'k8s', 'Take over the CronJobs of Kubernetes')
    .argument(
      '<file...>',
      'YAML or JSON, also of `kubectl get cronjobs -o yaml`; - reads standard input',
    )
    .option('--timezone <zone>', 'zone of CronJobs without timeZone (default: UTC)', readZone)
    .action(async (files: string[], options: ImportK8sOptions) => {
      const { importK8s } = await import('./import-k8s.ts')
      exitWith(await importK8s(terminal, files, options))
    })
  importCommand(
    imports,
    'bullmq',
    'Take over the job schedulers and repeatable jobs of BullMQ (and Bull), only reading',
  )
    .requiredOption('--redis-url <url>', 'the Redis that BullMQ uses', readRedisUrl)
    .option('--prefix <prefix>', 'of the keys in it', 'bull')
    .option('--queue <name>', 'a queue; again for more (default: all)', append)
    .option(
      '--map <queue/name=job>',
      'the job for a job of BullMQ; again for more',
      readMap,
      new Map(),
    )
    .option('--timezone <zone>', 'zone of patterns without tz (default: UTC)', readZone)
    .action(async (options: ImportBullmqOptions) => {
      const { importBullmq } = await import('./import-bullmq.ts')
      exitWith(await importBullmq(terminal, options))
    })
}

function importCommand(imports: Command, name: string, description: string): Command {
  return subcommand(imports, name, description)
    .addHelpText('after', EXIT_CODES)
    .option('--shadow', 'schedules in shadow mode: ticks are recorded, nothing is executed', false)
    .option('--json', 'the report as JSON', false)
}

function readZone(text: string): string {
  if (isTimezone(text)) return text
  throw new InvalidArgumentError('It is no IANA time zone: write for example Asia/Jakarta or UTC.')
}

function readRedisUrl(text: string): string {
  const problem = redisUrlProblem(text)
  if (problem === undefined) return text
  throw new InvalidArgumentError(problem)
}

function readMap(
  text: string,
  before: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, string> {
  const mapping = readMapping(text)
  if (mapping) return new Map([...before, mapping])
  throw new InvalidArgumentError(
    "It must be queue/name=job, as in 'mail/weekly-digest=digest.send', with a job's name behind.",
  )
}
