import { randomUUID } from 'node:crypto'
import { listTerms } from '@jadwal/db'
import { askToStepDown, type Leader, readLeader } from '@jadwal/queue'
import { sleep } from '@jadwal/runtime'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory, askRedis } from './ask.ts'
import { noteChange } from './audit.ts'
import type { Endpoints } from './endpoints.ts'
import {
  type LeaderAnswer,
  listTermsDoc,
  readLeaderDoc,
  stepDownDoc,
  type TermAnswer,
} from './leader-schema.ts'
import { Problem } from './problem.ts'
import { readPageQuery } from './run-query.ts'

/** How long a request to step down waits for the next leader, how often it asks, and how often it looks. */
const STEP_DOWN_WITHIN_MS = 5_000
const ASK_EACH_MS = 500
const LOOK_EACH_MS = 50

/** `/leader`: who leads, who did, and a hand-over. */
export function addLeaderRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/leader', {
    get: { role: 'viewer', doc: readLeaderDoc, handle: leaderHandler(deps) },
  })
  endpoints.add('/leader/terms', {
    get: { role: 'viewer', doc: listTermsDoc, handle: termsHandler(deps) },
  })
  endpoints.add('/leader/step-down', {
    post: {
      role: 'operator',
      doc: stepDownDoc,
      subject: '/leader',
      handle: stepDownHandler(deps),
    },
  })
}

function leaderHandler({ redis, prefix }: ApiDeps): RequestHandler {
  return async (_req, res) => {
    const leader = await askRedis(() => readLeader(redis, prefix))
    if (!leader) throw new Problem('not-found', { detail: 'No scheduler leads right now.' })
    res.json(leaderView(leader))
  }
}

function termsHandler({ db }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const page = readPageQuery(req.query)
    const { items, nextCursor } = await askHistory(() => listTerms(db, page))
    res.json({ items: items.map(termView), nextCursor })
  }
}

/**
 * Answers with the next leader. A message may be missed, so it is repeated while nobody else leads. Of
 * several who ask at once the first is taken for who did it; of the others it is told that nothing changed.
 */
function stepDownHandler(deps: ApiDeps): RequestHandler {
  const { redis, prefix, clock } = deps
  return async (_req, res) => {
    const before = await askRedis(() => readLeader(redis, prefix))
    if (!before) throw new Problem('no-leader', { detail: 'No scheduler leads right now.' })
    const by = randomUUID()
    const untilMs = clock.monotonicMs() + STEP_DOWN_WITHIN_MS
    let askAtMs = clock.monotonicMs()
    let leader: Leader | undefined = before
    let isOurs = false
    while (clock.monotonicMs() < untilMs) {
      if (clock.monotonicMs() >= askAtMs) {
        const said = await askRedis(() => askToStepDown(redis, prefix, { term: before.term, by }))
        if (said !== 'ended') isOurs = said === 'asked'
        askAtMs += ASK_EACH_MS
      }
      await sleep(LOOK_EACH_MS)
      leader = await askRedis(() => readLeader(redis, prefix))
      if (leader && leader.instance !== before.instance) break
    }
    const after = leader ? leaderView(leader) : null
    if (leader?.term !== before.term)
      noteChange(res, { before: isOurs ? leaderView(before) : after, after })
    if (!leader || leader.instance === before.instance) throw noSuccessor(before, leader)
    res.json(after)
  }
}

function noSuccessor(before: Leader, leader: Leader | undefined): Problem {
  const what =
    leader?.term === before.term
      ? 'has not stepped down: it may be frozen or gone. Another scheduler takes over when its lease runs out'
      : 'has stepped down, and no other scheduler took over: is another one running? It leads again by itself'
  return new Problem('no-successor', {
    detail: `Within ${STEP_DOWN_WITHIN_MS / 1_000} s, ${before.instance} ${what}.`,
  })
}

function leaderView({ instance, term, since }: Leader): LeaderAnswer {
  return { instance, term, since }
}

type Term = Awaited<ReturnType<typeof listTerms>>['items'][number]

function termView(term: Term): TermAnswer {
  return {
    term: term.term,
    instance: term.instance,
    from: term.from_at.toISOString(),
    until: term.until_at?.toISOString() ?? null,
    reason: term.reason,
  }
}
