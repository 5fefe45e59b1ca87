import type { VersionContent } from '@jadwal/db'
import { diffSpecs, type FieldChange } from '@jadwal/domain'

/** What differs between two versions: fields of the schedule, then dates of calendars that it names in both. */
export function versionDiff(before: VersionContent, after: VersionContent): FieldChange[] {
  const shared = Object.keys(after.calendars).filter((name) => name in before.calendars)
  const calendars = shared.flatMap((name) =>
    diffSpecs(asMap(before.calendars[name]), asMap(after.calendars[name]), `calendar ${name}: `),
  )
  return [...diffSpecs(before.spec, after.spec), ...calendars]
}

function asMap(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? { ...value } : {}
}
