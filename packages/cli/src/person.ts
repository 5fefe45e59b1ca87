import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { CommandError } from './http/api-errors.ts'

/** Asks whoever sits at the terminal; undefined where nobody does. */
export async function askPerson(question: string, stop: AbortSignal): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  const line = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await line.question(question, { signal: stop })
  } finally {
    line.close()
  }
}

/** Lets a person edit a text, in a file that goes afterwards; undefined where nobody sits. */
export async function editText(
  name: string,
  before: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const editor = env['VISUAL'] || env['EDITOR']
  if (editor === undefined && !process.stdin.isTTY) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'jadwal-edit-'))
  try {
    const file = join(folder, name)
    await writeFile(file, before, { mode: 0o600 })
    await runEditor(editor ?? 'vi', file)
    return await readFile(file, 'utf8')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** An editor may be given with options, so a shell reads it, as git has it. */
async function runEditor(editor: string, file: string): Promise<void> {
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, editor, file], { stdio: 'inherit' })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0)
    throw new CommandError(`the editor (${editor}) ended with ${code}: nothing was changed.`)
}
