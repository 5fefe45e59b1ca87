/** Control characters, and those that turn the direction of what follows. */
const STEERING = /[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu

/** A text on one line. A terminal must not be steered by what somebody else wrote. */
export function oneLine(text: string): string {
  return text.replaceAll(STEERING, ' ').trim()
}

/** The lines of a text, each of which steers nothing. */
export function safeLines(text: string): string[] {
  return text.split('\n').map((line) => line.replaceAll(STEERING, ' ').trimEnd())
}
