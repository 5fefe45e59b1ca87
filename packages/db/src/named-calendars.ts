/** A calendar that a schedule names, and where. */
export interface NamedCalendar {
  /** `calendars.skip.0` */
  field: string
  name: string
}

/** The calendars that a schedule names, as written. */
export function namedCalendars(spec: Readonly<Record<string, unknown>>): NamedCalendar[] {
  const choice = spec['calendars']
  if (choice === null || typeof choice !== 'object') return []
  return ['skip', 'only'].flatMap((key) => {
    const names: unknown = Reflect.get(choice, key)
    if (!Array.isArray(names)) return []
    return names.map((name, at) => ({ field: `calendars.${key}.${at}`, name: String(name) }))
  })
}
