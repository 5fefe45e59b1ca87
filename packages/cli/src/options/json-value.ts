import { UsageError } from '../http/api-errors.ts'
import { messageOf } from '../input-file.ts'
import type { Terminal } from '../terminal.ts'

/** JSON that an option holds: itself, `@file` or `-` for standard input. Throws UsageError. */
export async function readJsonValue(
  terminal: Terminal,
  option: string,
  given: string,
): Promise<unknown> {
  const text = await readText(terminal, option, given)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(
      `${option} is no JSON: ${messageOf(error)}. In a shell, put it in single quotes: '{"to":"ana@example.com"}'.`,
    )
  }
}

async function readText(terminal: Terminal, option: string, given: string): Promise<string> {
  if (given !== '-' && !given.startsWith('@')) return given
  const file = given === '-' ? 'standard input' : given.slice(1)
  try {
    return given === '-' ? await terminal.readInput() : await terminal.readFile(file)
  } catch (error) {
    throw new UsageError(`${option}: ${file} cannot be read: ${messageOf(error)}`)
  }
}
