import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { parseAnswer } from '../http/list.ts'
import type { Session } from '../session.ts'
import { ProgressBar } from '../show/progress.ts'
import { FAILED } from '../show/tell-error.ts'

const LOOK_EACH_MS = 1_000

/** A backfill, as far as it is shown here. */
export const Backfill = z.looseObject({
  id: z.string(),
  schedule: z.string(),
  state: z.string(),
  from: z.string(),
  to: z.string(),
  all: z.boolean().nullish(),
  rate: z.number().nullish(),
  concurrency: z.number().nullish(),
  ticks: z.number(),
  skipped: z.number(),
  enqueued: z.number(),
  position: z.string().nullish(),
  runs: z.record(z.string(), z.number()).nullish(),
  problem: z.string().nullish(),
  author: z.string().nullish(),
  createdAt: z.string(),
  finishedAt: z.string().nullish(),
})
export type Backfill = z.infer<typeof Backfill>

/** Shows how far it is until its last run has ended. Gives 1 when not all succeeded. */
export async function followBackfill(session: Session, id: string): Promise<number> {
  const { api, output, terminal } = session
  const bar = new ProgressBar(terminal, 'ticks')
  for (;;) {
    const answer = await api.get(`/backfills/${encodeURIComponent(id)}`)
    const backfill = parseAnswer(Backfill, answer)
    const { runs, state, ticks, enqueued, skipped, problem } = backfill
    const unfinished = enqueued - endedOf(runs)
    if (state !== 'running' && state !== 'paused' && unfinished <= 0) {
      bar.clear()
      output.either(answer, () =>
        output.line(
          `${id} is ${state}: ${runsText(runs) || 'no runs'}${problem == null ? '' : `; ${problem}`}`,
        ),
      )
      const bad = (runs?.['dead'] ?? 0) + (runs?.['cancelled'] ?? 0)
      return state === 'done' && bad === 0 && problem == null ? 0 : FAILED
    }
    const more = [state === 'paused' ? 'paused' : '', runsText(runs)].filter((part) => part !== '')
    bar.show({ done: skipped + endedOf(runs), total: ticks, more: more.join(', ') })
    await wait(LOOK_EACH_MS, undefined, { signal: terminal.stop }).catch((error: unknown) => {
      bar.clear()
      output.note(`No longer waiting; the backfill goes on: jadwal backfills show ${id}`)
      throw error
    })
  }
}

function endedOf(runs: Backfill['runs']): number {
  return (runs?.['succeeded'] ?? 0) + (runs?.['dead'] ?? 0) + (runs?.['cancelled'] ?? 0)
}

/** `3 succeeded, 1 dead` */
export function runsText(runs: Backfill['runs']): string {
  return Object.entries(runs ?? {})
    .map(([state, count]) => `${count} ${state}`)
    .join(', ')
}
