const CODES = { red: 31, green: 32, yellow: 33, blue: 34, bold: 1, dim: 2 } as const
export type Color = keyof typeof CODES

export type Paint = (color: Color | undefined, text: string) => string

/** Colours what a terminal shows, and leaves alone what anything else reads. */
export function painter(isColored: boolean): Paint {
  return (color, text) =>
    isColored && color !== undefined && text !== ''
      ? `\u001B[${CODES[color]}m${text}\u001B[0m`
      : text
}

/** Whether colours are wanted: https://no-color.org */
export function wantsColor(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  return isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}

const STATES: Readonly<Record<string, Color>> = {
  succeeded: 'green',
  running: 'blue',
  retrying: 'yellow',
  dead: 'red',
  failed: 'red',
  lost: 'red',
  cancelled: 'dim',
  skipped: 'dim',
  paused: 'yellow',
  stopped: 'red',
  open: 'red',
  probing: 'yellow',
  draining: 'yellow',
  fired: 'green',
  pending: 'yellow',
  ok: 'green',
  warning: 'yellow',
  broken: 'red',
}

export function stateColor(state: string | undefined): Color | undefined {
  return state === undefined ? undefined : STATES[state]
}
