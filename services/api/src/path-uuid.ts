import { z } from 'zod'

/** The UUID that a part of a path is, in the small letters that ids are kept in; undefined for anything else. */
export function pathUuid(given: unknown): string | undefined {
  return z.uuid().safeParse(given).data?.toLowerCase()
}
