/** A cursor that no list of ours has made. */
export class BadCursorError extends Error {
  override name = 'BadCursorError'
  readonly code = 'BAD_CURSOR'

  constructor() {
    super('the cursor is not one that an answer gave out: leave it out to start at the beginning')
  }
}

/** Where a list goes on: opaque to callers, the last id inside. */
export function encodeCursor(lastId: string): string {
  return Buffer.from(lastId).toString('base64url')
}

/** The id inside a cursor. Throws BadCursorError. */
export function decodeCursor(cursor: string, form: RegExp): string {
  const id = Buffer.from(cursor, 'base64url').toString()
  if (!form.test(id)) throw new BadCursorError()
  return id
}

/** Where a list goes on that is ordered by an instant and, within it, by id. */
export function encodeInstantCursor(at: Date, id: string): string {
  return encodeCursor(`${at.getTime()}|${id}`)
}

/** The instant and id inside a cursor. Throws BadCursorError. */
export function decodeInstantCursor(cursor: string): { at: Date; id: string } {
  const [ms, id = ''] = decodeCursor(cursor, INSTANT_AND_UUID).split('|')
  return { at: new Date(Number(ms)), id }
}

/** An instant in ms, which Postgres can have, and an id. */
const INSTANT_AND_UUID = /^\d{1,15}\|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
