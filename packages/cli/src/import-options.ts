/** What all imports can be told. */
export interface ImportOptions {
  /** The report as JSON. */
  json: boolean
  /** Schedules in shadow mode: ticks are recorded, nothing is executed. */
  shadow: boolean
}

/** The `defaults` of the written file. */
export function fileDefaults(
  defaults: Record<string, unknown>,
  { shadow }: ImportOptions,
): Record<string, unknown> {
  return shadow ? { mode: 'shadow', ...defaults } : defaults
}
