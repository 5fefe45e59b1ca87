/** The environment of a process whose wall clock is ahead by so much, while its monotonic one is right. */
export function shiftedClock(byMs: number): Readonly<Record<string, string>> {
  const code = `
    const Right = Date
    globalThis.Date = class Date extends Right {
      constructor(...given) {
        super(...(given.length === 0 ? [Right.now() + ${byMs}] : given))
      }
      static now() {
        return Right.now() + ${byMs}
      }
    }`
  // A URL, so that there is no space in it, which ends an option.
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` }
}
