import { isTimezone } from '@jadwal/domain'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { redisUrlProblem } from './bullmq-redis.ts'
import { importBullmq, type ImportBullmqOptions } from './import-bullmq.ts'
import { importCrontab, type ImportCrontabOptions } from './import-crontab.ts'
import { importK8s, type ImportK8sOptions } from './import-k8s.ts'
import { readMapping } from './job-map.ts'
import type { Terminal } from './terminal.ts'

export type { Terminal } from './terminal.ts'

const USAGE_ERROR = 2

const EXIT_CODES = `
Exit codes: 0 all was read (what has no counterpart is in the report), 1 it can't be read,
2 the command line is wrong.`

/**
 * Runs one command line and gives its exit code: 0 done, 1 it failed, 2 the command line is wrong.
 * An import that read what it was given is done, also when it reports parts that have no counterpart.
 */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = 0
  const program = createProgram(terminal, (code) => (exitCode = code))
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.code === 'commander.helpDisplayed' ? 0 : USAGE_ERROR
  }
}

function createProgram(terminal: Terminal, exitWith: (code: number) => void): Command {
  const program = new Command('jadwal')
    .description('Jadwal, a distributed job scheduler')
    .exitOverride()
    .configureOutput({ writeOut: terminal.writeOutput, writeErr: terminal.writeError })
    .showHelpAfterError()
  const imports = inherit(program, 'import').description(
    'Make a schedule file of what exists: the file to standard output, the report to standard error',
  )
  importCommand(imports, 'crontab')
    .description('Take over a crontab')
    .argument('<file>', 'the crontab; - reads standard input')
    .option('--system', 'the file names a user before each command, as /etc/crontab does', false)
    .option('--timezone <zone>', "zone of lines above any CRON_TZ (default: the host's)", readZone)
    .action(async (file: string, options: ImportCrontabOptions) => {
      exitWith(await importCrontab(terminal, file, options))
    })
  importCommand(imports, 'k8s')
    .description('Take over the CronJobs of Kubernetes')
    .argument(
      '<file...>',
      'YAML or JSON, also of `kubectl get cronjobs -o yaml`; - reads standard input',
    )
    .option('--timezone <zone>', 'zone of CronJobs without timeZone (default: UTC)', readZone)
    .action(async (files: string[], options: ImportK8sOptions) => {
      exitWith(await importK8s(terminal, files, options))
    })
  importCommand(imports, 'bullmq')
    .description(
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
      exitWith(await importBullmq(terminal, options))
    })
  return program
}

function importCommand(imports: Command, name: string): Command {
  return inherit(imports, name)
    .addHelpText('after', EXIT_CODES)
    .option('--shadow', 'schedules in shadow mode: ticks are recorded, nothing is executed', false)
    .option('--json', 'the report as JSON', false)
}

function inherit(parent: Command, name: string): Command {
  return parent.command(name).copyInheritedSettings(parent)
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

function append(text: string, before: readonly string[] = []): string[] {
  return [...before, text]
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
