/** A time for which a schedule, or every schedule, was told to rest: ticks in (fromMs, untilMs]. */
export interface Pause {
  fromMs: number
  /** Absent while nobody has said when it ends. */
  untilMs?: number
}

export function isPausedAt(pauses: readonly Pause[], atMs: number): boolean {
  return pauses.some(({ fromMs, untilMs = Infinity }) => atMs > fromMs && atMs <= untilMs)
}
