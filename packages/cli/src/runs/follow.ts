import { setTimeout as wait } from 'node:timers/promises'
import { CommandError } from '../http/api-errors.ts'
import { parseAnswer } from '../http/list.ts'
import type { Session } from '../session.ts'
import { stateColor } from '../show/colors.ts'
import { jsonText } from '../show/json-text.ts'
import { FAILED } from '../show/tell-error.ts'
import { between } from '../show/times.ts'
import { errorText, isOver, RunAnswer } from './run-answer.ts'

const FIRST_LOOK_MS = 200
const LAST_LOOK_MS = 2_000

/**
 * Waits for the end of a run and tells of it. Gives 1 when it did not succeed. After `timeoutMs` it
 * stops waiting, and says that the run goes on.
 */
export async function followRun(
  session: Session,
  id: string,
  timeoutMs: number | undefined,
): Promise<number> {
  const { api, output, terminal } = session
  const beganMs = terminal.clock.monotonicMs()
  let [eachMs, state] = [FIRST_LOOK_MS, '']
  for (;;) {
    const answer = await api.get(`/runs/${encodeURIComponent(id)}`)
    const run = parseAnswer(RunAnswer, answer)
    if (isOver(run.state)) {
      output.either(answer, () => tellEnd(session, run))
      return run.state === 'succeeded' ? 0 : FAILED
    }
    if (run.state !== state) output.note(`${id} is ${run.state}`)
    state = run.state
    if (timeoutMs !== undefined && terminal.clock.monotonicMs() - beganMs >= timeoutMs)
      throw new CommandError(
        `${id} is still ${run.state}, and goes on: "jadwal runs wait ${id}" waits again.`,
      )
    await wait(eachMs, undefined, { signal: terminal.stop }).catch((error: unknown) => {
      output.note(`No longer waiting; the run goes on: jadwal runs show ${id}`)
      throw error
    })
    eachMs = Math.min(eachMs * 1.5, LAST_LOOK_MS)
  }
}

function tellEnd({ output }: Session, run: RunAnswer): void {
  const took = between(run.startedAt, run.finishedAt)
  const why = [run.reason, errorText(run.error)].filter((part) => part != null && part !== '')
  output.raw(
    `${run.id} ${output.paint(stateColor(run.state), run.state)}${took === '' ? '' : ` after ${took}`}`,
  )
  if (run.state !== 'succeeded' && why.length > 0) output.block(why.join(': '))
  if (run.result != null) output.block(jsonText(run.result))
}
