import type { Terminal } from './terminal.ts'

/** A file's name as reports have it, and its text. */
export interface InputFile {
  name: string
  text: string
}

/** Reads a file, or standard input for `-`. Says so on standard error, and gives nothing, when it can't. */
export async function readInputFile(
  terminal: Terminal,
  file: string,
): Promise<InputFile | undefined> {
  const name = file === '-' ? 'standard input' : file
  try {
    const text = file === '-' ? await terminal.readInput() : await terminal.readFile(file)
    return { name, text }
  } catch (error) {
    terminal.writeError(`jadwal: ${name} cannot be read: ${messageOf(error)}\n`)
    return undefined
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
