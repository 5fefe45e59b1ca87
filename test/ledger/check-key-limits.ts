import { grouped } from './history.ts'

/** A time during which a run with a concurrency key was being executed. */
export interface KeySpan {
  key: string
  runId: string
  attempt: number
  fromMs: number
  untilMs: number
}

/** By key, how many of its runs were executed at once at most. One that ends as another begins is not beside it. */
export function mostAtOnce(spans: readonly KeySpan[]): Record<string, number> {
  const most: Record<string, number> = {}
  for (const [key, own] of grouped(spans, (span) => span.key)) {
    const steps = own.flatMap(({ fromMs, untilMs }) => [
      { atMs: fromMs, by: 1 },
      { atMs: untilMs, by: -1 },
    ])
    steps.sort((a, b) => a.atMs - b.atMs || a.by - b.by)
    let now = 0
    let highest = 0
    for (const { by } of steps) {
      now += by
      highest = Math.max(highest, now)
    }
    most[key] = highest
  }
  return most
}
