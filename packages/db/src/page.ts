export interface PageRequest {
  /** 1 to 200; default 50. */
  limit?: number
  /** The `nextCursor` of the page before. */
  cursor?: string
}

export interface Page<T> {
  items: T[]
  /** Null on the last page. */
  nextCursor: string | null
}

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200

export function pageLimit(page: PageRequest): number {
  return Math.min(Math.max(page.limit ?? DEFAULT_LIMIT, 1), MAX_LIMIT)
}

/**
 * A page of the rows that were read: one more than the page has tells that others follow. `cursorOf`
 * says where they go on after the last one.
 */
export function pageOf<T>(
  rows: readonly T[],
  limit: number,
  cursorOf: (last: T) => string,
): Page<T> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  const hasMore = last !== undefined && rows.length > limit
  return { items, nextCursor: hasMore ? cursorOf(last) : null }
}
