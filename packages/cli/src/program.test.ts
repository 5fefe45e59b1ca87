import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { PROJECT_ROOT } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { readSchedules, refusedLines, runInProcess as run } from '../test/run-in-process.ts'

async function take(crontab: string, ...options: string[]) {
  const { exitCode, output, report } = await run(['import', 'crontab', '-', ...options], crontab)
  expect(exitCode).toBe(0)
  return { schedules: readSchedules(output), report, refused: refusedLines(report) }
}

test.each([
  [[], 'Usage: jadwal'],
  [['import'], 'Usage: jadwal import'],
  [['imprt'], "error: unknown command 'imprt'"],
  [['import', 'anacrontab'], "error: unknown command 'anacrontab'"],
  [['import', 'crontab'], "error: missing required argument 'file'"],
  [['import', 'crontab', '-', '--sytem'], "error: unknown option '--sytem'"],
  [['import', 'bullmq'], "error: required option '--redis-url <url>' not specified"],
  [['import', 'bullmq', '--redis-url', 'localhost:6379'], 'It must be redis://host:port'],
  [['import', 'bullmq', '--redis-url', 'redis://x/y'], 'The database "y" must be a number'],
  [
    ['import', 'bullmq', '--redis-url', 'redis://x', '--map', 'mail=x'],
    'It must be queue/name=job',
  ],
  [
    ['import', 'bullmq', '--redis-url', 'redis://x', '--map', 'q/n=A b'],
    'It must be queue/name=job',
  ],
  [['import', 'k8s'], "error: missing required argument 'file'"],
  [['import', 'k8s', '-', '--timezone', 'Local'], "argument 'Local' is invalid"],
  [
    ['import', 'crontab', '-', '--timezone', 'Mars/Base'],
    "argument 'Mars/Base' is invalid. It is no IANA time zone",
  ],
])('%j is no command: usage, and exit code 2', async (args, message) => {
  const { exitCode, output, report } = await run(args)
  expect(exitCode).toBe(2)
  expect(output).toBe('')
  expect(report).toContain(message)
  expect(report).toContain('Usage: jadwal')
})

test.each([
  [['--json', 'nonsense'], "unknown command 'nonsense'"],
  [['runs', 'list', '--json', '--nonsense'], "unknown option '--nonsense'"],
  [['runs', 'cancel', '--json'], "missing required argument 'id'"],
  [['runs', 'list', '--json', '--from', 'yesterdayish'], 'yesterdayish'],
])('%j is told to programs as JSON', async (args, detail) => {
  const { exitCode, report } = await run(args)
  expect(exitCode).toBe(2)
  expect(JSON.parse(report)).toEqual({ detail: expect.stringContaining(detail) })
})

test('what stands behind -- asks for no JSON', async () => {
  const { exitCode, report } = await run(['nonsense', '--', '--json'])
  expect(exitCode).toBe(2)
  expect(report).toContain('Usage: jadwal')
})

test('help is no error', async () => {
  const { exitCode, output } = await run(['import', 'crontab', '--help'])
  expect(exitCode).toBe(0)
  expect(output).toContain('Usage: jadwal import crontab')
  expect(output).toContain('Exit codes: 0 all was read')
})

test('a file that cannot be read gives exit code 1', async () => {
  const { exitCode, report } = await run(['import', 'crontab', 'nowhere'])
  expect(exitCode).toBe(1)
  expect(report).toBe('jadwal: nowhere cannot be read: no such file\n')
})

test('settings hold from their line on', async () => {
  const { schedules } = await take(`
0 1 * * * first
SHELL = "/bin/bash"
MAILTO='ops@example.com'
CRON_TZ=Europe/Berlin
GREETING = "hello  world"
HOME=/srv
0 1 * * * second
SHELL=
MAILTO=""
CRON_TZ=
0 1 * * * third
`)
  expect(schedules).toMatchObject([
    { name: 'first', timezone: 'Asia/Jakarta', payload: { command: 'first', shell: '/bin/sh' } },
    {
      timezone: 'Europe/Berlin',
      alert: 'ops@example.com',
      payload: {
        shell: '/bin/bash',
        cwd: '/srv',
        env: { GREETING: 'hello  world', HOME: '/srv' },
      },
    },
    { timezone: 'Asia/Jakarta', payload: { shell: '/bin/sh' } },
  ])
  expect(schedules.map(({ alert }) => alert)).toEqual([undefined, 'ops@example.com', undefined])
})

test('a schedule does what cron does: runs overlap, once only, and may take long', async () => {
  const { schedules } = await take('* * * * * /bin/slow')
  expect(schedules).toMatchObject([{ overlap: 'allow', attempts: 1, timeoutMs: 86_400_000 }])
})

test('the first % begins standard input, further ones are new lines, \\% is a plain %', async () => {
  const { schedules, report } = await take(`
0 1 * * * cat > /tmp/\\%x%one\\%%two%
0 2 * * * cat%
0 3 * * * echo "50%"
`)
  expect(schedules.map(({ payload }) => payload)).toEqual([
    { command: 'cat > /tmp/%x', shell: '/bin/sh', stdin: 'one%\ntwo\n' },
    { command: 'cat', shell: '/bin/sh', stdin: '\n' },
    { command: 'echo "50', shell: '/bin/sh', stdin: '"\n' },
  ])
  expect(report).toContain('standard input:4: the first "%" stands inside quotes')
  expect(report).not.toContain('standard input:2: the first "%"')
})

test('comments right above a line describe it, headings and lines commented out do not', async () => {
  const { schedules } = await take(`
# m h  dom mon dow   command
# 0 4 * * * /bin/old
# cleans up
#   what is left
0 1 * * * /bin/clean

# far away

0 2 * * * /bin/other
# of a setting
A=1
0 3 * * * /bin/third
`)
  expect(schedules.map(({ description }) => description)).toEqual([
    'cleans up what is left',
    undefined,
    undefined,
  ])
})

test.each([
  ['@reboot /bin/x', /^@reboot means the start of a machine/],
  ['@every_minute /bin/x', /"@every_minute" is no known name/],
  ['0~30 * * * * /bin/x', /"~" stands for a random value/],
  ['H * * * * /bin/x', /"H" stands for a random value/],
  ['0 0 31 2 * /bin/x', /^never fires/],
  ['* * *', /^it has 3 time fields; 5 are needed/],
  ['* * * /bin/x', /^it has 3 time fields before "\/bin\/x"; 5 are needed/],
  ['* * * * *', /^it names no command behind its time$/],
  ['@daily', /^it names no command behind its time$/],
  ['* * * * * %input', /^it names no command behind its time$/],
  ['run this now and then', /^minute "run": not a number/],
  ['* * * * * /bin/x\u0000', /^it holds a NUL character$/],
  ['CRON_TZ=Mars/Base', /^"Mars\/Base" is no IANA time zone$/],
])('%j is reported with its line and why', async (line, why) => {
  const { schedules, refused } = await take(`# first\n${line}\n`)
  expect(schedules).toEqual([])
  expect(refused[0]).toBe(`standard input:2: ${line.replace('\u0000', '')}`)
  expect(refused[1]).toMatch(why)
})

test('lines below a zone that does not exist are not placed in some other zone', async () => {
  const { schedules, refused } = await take(
    'CRON_TZ=Mars/Base\n0 1 * * * a\nCRON_TZ=UTC\n0 1 * * * b',
  )
  expect(schedules.map(({ name }) => name)).toEqual(['b'])
  expect(refused[3]).toBe('the CRON_TZ above it, "Mars/Base", is no IANA time zone')
})

test('what the schedule file would refuse is reported', async () => {
  const { schedules, refused } = await take(`MAILTO=${'x'.repeat(201)}\n0 1 * * * /bin/x`)
  expect(schedules).toEqual([])
  expect(refused[1]).toContain('must be at most 200 characters long')
})

test('the user column is kept as a label', async () => {
  const { schedules, report } = await take(
    '17 * * * *\troot\tcd / && run-parts /etc/cron.hourly\n@daily www-data:www php app.php\n',
    '--system',
  )
  expect(schedules).toMatchObject([
    { labels: { user: 'root' }, payload: { command: 'cd / && run-parts /etc/cron.hourly' } },
    { labels: { user: 'www-data' }, payload: { command: 'php app.php' } },
  ])
  expect(report).toContain(
    `Commands run as the worker's user. The users of the file (root, www-data)`,
  )
})

test('a user column that is none is reported', async () => {
  const { refused } = await take('0 1 * * * /bin/x --y\n0 1 * * * root\n0 1 * * *', '--system')
  expect(refused).toEqual([
    'standard input:1: 0 1 * * * /bin/x --y',
    `"/bin/x" is no user name: with --system a user stands before the command; leave --system away for a user's own crontab`,
    'standard input:2: 0 1 * * * root',
    'it names no command behind its time and user',
    'standard input:3: 0 1 * * *',
    'it names no command behind its time',
  ])
})

test('a system crontab that is read as a user crontab is noticed', async () => {
  const { report } = await take('0 1 * * * root /bin/x\n0 2 * * * root /bin/y\n')
  expect(report).toContain('Run again with --system.')
})

test('a leading - is left away and reported', async () => {
  const { schedules, report } = await take('-*/15 * * * * /bin/quiet\n')
  expect(schedules).toMatchObject([{ cron: '*/15 * * * *', payload: { command: '/bin/quiet' } }])
  expect(report).toContain('standard input:1: the leading "-"')
})

test('the report names every shell that the allow-list needs, and the zone that was assumed', async () => {
  const crontab = '0 1 * * * a\nSHELL=/bin/bash\n0 1 * * * b\n'
  const assumed = await take(crontab)
  expect(assumed.report).toContain('JADWAL_EXEC_ALLOW=/bin/sh,/bin/bash\n')
  expect(assumed.report).toContain('times are read in the zone of this host, Asia/Jakarta.')
  expect((await take(crontab, '--timezone', 'UTC')).report).not.toContain('zone of this host')
  expect((await take(`CRON_TZ=UTC\n${crontab}`)).report).not.toContain('zone of this host')
})

test('an empty file is an empty schedule file', async () => {
  const { schedules, report } = await take('')
  expect(schedules).toEqual([])
  expect(report).toBe('standard input: 0 schedules taken over, 0 lines not.\n')
})

test('with --shadow nothing of the file is executed', async () => {
  const { schedules } = await take('* * * * * a', '--shadow')
  expect(schedules).toMatchObject([{ mode: 'shadow', overlap: 'allow' }])
})

test('an environment that looks like a reference to a secret is not taken for one', async () => {
  const { schedules, refused } = await take('secret=HUNTER2\n* * * * * a')
  expect(schedules).toEqual([])
  expect(refused[1]).toContain('payload.env has "secret" as its only key')
})

test('with --json the report is for programs', async () => {
  const { exitCode, report } = await run(
    ['import', 'crontab', '-', '--json', '--timezone', 'UTC'],
    '-* * * * * a\n* * * * b\n',
  )
  expect(exitCode).toBe(0)
  expect(JSON.parse(report)).toMatchObject({
    source: 'standard input',
    notTakenOver: [{ source: 'standard input', line: 2, text: '* * * * b' }],
    takenOver: [{ source: 'standard input', line: 1, schedule: 'a' }],
    notes: expect.arrayContaining([
      { source: 'standard input', line: 1, remark: expect.stringContaining('leading "-"') },
    ]),
  })
})

test('a report moves no cursor', async () => {
  const { report } = await take('* * * * \u001B[2J\u001B[H')
  expect(report).not.toContain('\u001B')
})

test('up becomes what npm start runs', async () => {
  const { scripts } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  const { exitCode, became = '' } = await run(['up'])
  expect(exitCode).toBe(0)
  expect(`node ${relative(PROJECT_ROOT, became)}`).toBe(scripts.start)
})
