import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { projectPath, readProjectFile } from './compose-file.ts'

const PATH = '/usr/local/bin:/usr/bin:/bin'

/** Runs the image's entry point with `printenv NAME` in place of a service. */
function readThroughEntrypoint(name: string, env: Record<string, string>) {
  const script = projectPath('infra/docker/entrypoint.sh')
  return spawnSync('sh', [script, 'printenv', name], { encoding: 'utf8', env: { PATH, ...env } })
}

function documentedFiles(): string[] {
  const [list = ''] = /Any of `DATABASE_URL`[^]*?`NAME_FILE`/.exec(
    readProjectFile('docs/deploy.md'),
  ) ?? ['']
  const names = Array.from(list.matchAll(/`([A-Z_]+)`/g), ([, name = '']) => name)
  return names.filter((name) => name !== 'NAME_FILE')
}

function fileWith(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'jadwal-entrypoint-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'value')
  writeFileSync(file, content)
  return file
}

test('a variable is read from the file that NAME_FILE names', () => {
  const file = fileWith('it\'s $HOME "and" more\n')
  const read = readThroughEntrypoint('JADWAL_ADMIN_TOKEN', { JADWAL_ADMIN_TOKEN_FILE: file })
  expect(read).toMatchObject({ status: 0, stdout: 'it\'s $HOME "and" more\n', stderr: '' })
})

test('a variable that is set wins over its file, an empty one does not', () => {
  const JADWAL_TOKEN_FILE = fileWith('of the file')
  const set = readThroughEntrypoint('JADWAL_TOKEN', { JADWAL_TOKEN: 'set', JADWAL_TOKEN_FILE })
  const empty = readThroughEntrypoint('JADWAL_TOKEN', { JADWAL_TOKEN: '', JADWAL_TOKEN_FILE })
  expect([set.stdout, empty.stdout]).toEqual(['set\n', 'of the file\n'])
})

test.each(documentedFiles())('%s can be given as a file, as docs/deploy.md says', (name) => {
  expect(readThroughEntrypoint(name, { [`${name}_FILE`]: fileWith('a value') }).stdout).toBe(
    'a value\n',
  )
})

test('secrets of jobs can be files too', () => {
  const JADWAL_SECRET_BILLING_KEY_FILE = fileWith('s3cret')
  const env = { JADWAL_SECRET_BILLING_KEY_FILE }
  expect(readThroughEntrypoint('JADWAL_SECRET_BILLING_KEY', env).stdout).toBe('s3cret\n')
  expect(readThroughEntrypoint('JADWAL_SECRET_BILLING_KEY_FILE', env).stdout).toBe('')
})

test('a file that cannot be read ends the start with one message', () => {
  const read = readThroughEntrypoint('DATABASE_URL', { DATABASE_URL_FILE: '/nowhere/url' })
  expect(read).toMatchObject({ status: 78, stdout: '' })
  expect(read.stderr).toBe(
    "jadwal: DATABASE_URL_FILE is /nowhere/url, which can't be read; it must be the path of a file with the value of DATABASE_URL\n",
  )
})
