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

/** An instant in ms, which Postgres can have, and an id. */
export const INSTANT_AND_UUID = /^\d{1,15}\|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
