import { CommandError } from '../http/api-errors.ts'
import { messageOf } from '../input-file.ts'
import type { Terminal } from '../terminal.ts'

/** A file, or standard input for `-`. Throws CommandError when it can't be read. */
export async function readTextFile(terminal: Terminal, file: string): Promise<string> {
  try {
    return file === '-' ? await terminal.readInput() : await terminal.readFile(file)
  } catch (error) {
    throw new CommandError(
      `${file === '-' ? 'standard input' : file} cannot be read: ${messageOf(error)}`,
    )
  }
}

/** A text of YAML, or of JSON. Throws CommandError that names it. */
export async function readYamlText(name: string, text: string): Promise<unknown> {
  const { parse } = await import('yaml')
  try {
    return parse(text)
  } catch (error) {
    throw new CommandError(`${name} is no YAML: ${messageOf(error)}`)
  }
}
