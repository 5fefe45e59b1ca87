import { BadCursorError, type LetterPosition } from '@jadwal/db'

const FORM = /^(\d{1,15})\|(\d{1,15})\|([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** Where a call over many letters goes on, and before when those died that the first call was for. */
export function encodePosition(
  { finished_at, id }: { finished_at: Date | null; id: string },
  before: Date,
): string {
  const diedAtMs = finished_at?.getTime() ?? 0
  return Buffer.from(`${before.getTime()}|${diedAtMs}|${id}`).toString('base64url')
}

/** Throws BadCursorError. */
export function decodePosition(cursor: string): { before: Date; after: LetterPosition } {
  const [, before, diedAt, id] = FORM.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (id === undefined) throw new BadCursorError()
  return {
    before: new Date(Number(before)),
    after: { finished_at: new Date(Number(diedAt)), id },
  }
}
