/** What a version says, and the calendars it names as they are at its time. */
export interface VersionContent {
  spec: Record<string, unknown>
  calendars: Record<string, unknown>
}
