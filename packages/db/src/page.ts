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
