import { paint, renderLogLine } from './log-line.ts'

const NAME_WIDTH = 11
const PREFIX_COLOURS = [36, 33, 35, 34, 32, 96, 95]

/** Where all that is said by `npm start` and its services comes out, line by line. */
export interface Terminal {
  /** Something that the supervisor itself has to say. */
  say(text: string): void
  /** A line of a service. */
  line(name: string, line: string): void
  /** Text without a prefix. */
  plain(text: string): void
}

export function openTerminal(out: NodeJS.WriteStream): Terminal {
  const colour = out.isTTY && out.hasColors()
  // Whoever listened is gone (`npm start | head`): the services go on, and so must the drain.
  out.on('error', () => {})
  const colours = new Map<string, number>()
  const prefix = (name: string): string => {
    const code = colours.get(name) ?? PREFIX_COLOURS[colours.size % PREFIX_COLOURS.length] ?? 0
    colours.set(name, code)
    return paint(`${name.padEnd(NAME_WIDTH)} |`, code, colour)
  }
  const write = (name: string, text: string): void => {
    for (const line of text.split('\n')) out.write(`${prefix(name)} ${line}\n`)
  }
  return {
    say: (text) => write('jadwal', text),
    line: (name, line) => write(name, renderLogLine(line, colour)),
    plain: (text) => void out.write(text),
  }
}
