import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { bullScripts, TemplateList } from './bull-scripts.ts'
import { bullKey, companionPrefix, deadKey, outboxKey } from './keys.ts'
import { fitsTemplate } from './message-template.ts'
import type { Patience } from './patience.ts'
import { type Decider, letterFact, type RedrivenRun } from './redriven-run.ts'
import { runMessageOptions } from './run-message.ts'
import { DECIDED_MS, redriveScript } from './settle-scripts.ts'

export interface RedriveCall {
  steps: 'claim add settle' | 'claim' | 'add' | 'settle'
  /** The queue whose keys it is done with. */
  keysOf: string
  /** Where the new runs go. */
  queue: Queue
  decider: Decider
}

interface Letter {
  id: string
  job: string
  priority: number
  run: RedrivenRun
  hasEnded: boolean
}

const COMMAND = 'jadwalRedriveLetters'

type Scripted = Redis & {
  [COMMAND]?: (...args: (string | number)[]) => Promise<(string | 1)[]>
}

/** Sends one call of `redriveScript`, whose answer it resolves to. */
export async function sendRedrive(
  { redis, prefix, patience }: { redis: Redis; prefix: string; patience: Patience },
  { steps, keysOf, queue, decider }: RedriveCall,
  letters: readonly Letter[],
): Promise<(string | 1)[]> {
  const { texts, numbers } = bullScripts(redis)
  const scripted = redis as Scripted
  if (!scripted[COMMAND])
    redis.defineCommand(COMMAND, { numberOfKeys: 4, lua: redriveScript(texts) })
  const templates = new TemplateList(queue, numbers)
  const args: (string | number)[] = []
  for (const { id, job, priority, run, hasEnded } of letters) {
    if (!fitsTemplate(id)) throw new Error(`${id} is no id of a run`)
    const options = runMessageOptions({ enqueuedAtMs: decider.nowMs, priority })
    args.push(id, run.id, templates.known(job, options) ?? (await templates.make(job, options)))
    args.push(JSON.stringify(run.message), run.fact)
    args.push(letterFact(id, decider, { redrivenAs: run.id }), run.owner, hasEnded ? 1 : 0)
  }
  const keys = [
    bullKey(prefix, keysOf, ''),
    deadKey(prefix, keysOf, ''),
    outboxKey(prefix, keysOf),
    companionPrefix(prefix, keysOf),
  ]
  const about = [steps, queue.name, DECIDED_MS, templates.toJson()]
  const sent = scripted[COMMAND]?.(...keys, ...about, ...args)
  return sent ? await patience.for(sent) : []
}
