/** One field that differs between two forms of a schedule or calendar. */
export interface FieldChange {
  /** Dotted path, such as `misfire.policy`. */
  field: string
  /** Absent: there was nothing. */
  before?: unknown
  /** Absent: there is nothing any more. */
  after?: unknown
}

/** The fields that differ, as written; lists are compared whole. `base` goes before each path. */
export function diffSpecs(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  base = '',
): FieldChange[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return keys.flatMap((key) => {
    const field = `${base}${key}`
    const [was, is] = [own(before, key), own(after, key)]
    if (isMap(was) && isMap(is)) return diffSpecs(was, is, `${field}.`)
    if (isSame(was, is)) return []
    return [
      {
        field,
        ...(was === undefined ? {} : { before: was }),
        ...(is === undefined ? {} : { after: is }),
      },
    ]
  })
}

/** As JSON, whatever the order of keys. */
function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, index) => isSame(each, b[index]))
  if (!isMap(a) || !isMap(b)) return a === b
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]))
  )
}

function own(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

function isMap(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
