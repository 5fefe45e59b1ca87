import type { Problem } from './problem.ts'

/** What became of many that were sent together. */
export type Sent<R> =
  | { sent: readonly R[] }
  /** Nothing was sent, since the one at this place can't be. */
  | { index: number; problem: Problem }

/**
 * Sends many together, and apart from each other where one of them keeps the others from being sent. Returns,
 * in their order, what was sent or why it was not. They are sent in this order too. Each refusal halves
 * those that it concerns, so that `n` which are all refused are looked at `n log n` times, not `n²`.
 */
export async function sendApart<T, R>(
  items: readonly T[],
  send: (items: readonly T[]) => Promise<Sent<R>>,
): Promise<(R | Problem)[]> {
  if (items.length === 0) return []
  const answer = await send(items)
  if ('sent' in answer) return [...answer.sent]
  const { index, problem } = answer
  const others = items.toSpliced(index, 1)
  const half = Math.ceil(others.length / 2)
  const first = await sendApart(others.slice(0, half), send)
  const second = await sendApart(others.slice(half), send)
  return [...first, ...second].toSpliced(index, 0, problem)
}
