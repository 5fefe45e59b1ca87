import {
  findAlertSetting,
  listAlerts,
  listChannelReports,
  loadAlertConfig,
  type Page,
} from '@jadwal/db'
import {
  AlertChannelSpec,
  AlertName,
  ALERTS_QUEUE,
  type AlertSilenceSpec,
  type AlertState,
  isSilenced,
  newRunId,
} from '@jadwal/domain'
import { randomFromPool, readAlerts, readWorkers } from '@jadwal/queue'
import type { RequestHandler } from 'express'
import type { ApiDeps } from '../api-deps.ts'
import { askHistory, askHistoryIfThere, askRedis } from '../ask.ts'
import { noteChange } from '../audit.ts'
import type { Endpoints } from '../endpoints.ts'
import { Problem } from '../problem.ts'
import { withoutUndefined } from '../run-query.ts'
import { parseRequest } from '../zod-problem.ts'
import { type AlertAnswer, AlertsQuery, listAlertsDoc, testChannelDoc } from './alert-docs.ts'
import { addAlertSettingsRoutes } from './alert-settings-routes.ts'
import { channelTarget, targetPayload } from './alert-targets.ts'
import { testMessage } from './compose-message.ts'

/** `/alerts`: what is wrong right now or was lately, and who is told. */
export function addAlertsRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/alerts', {
    get: { role: 'viewer', doc: listAlertsDoc, handle: listHandler(deps) },
  })
  endpoints.add('/alerts/channels/:name/test', {
    post: {
      role: 'admin',
      doc: testChannelDoc,
      audit: 'alerts.channels.test',
      handle: testHandler(deps),
    },
  })
  addAlertSettingsRoutes(endpoints, deps)
}

function listHandler(deps: ApiDeps): RequestHandler {
  const { db, clock } = deps
  return async (req, res) => {
    const { state, rule, ...page } = parseRequest(AlertsQuery, req.query, 'query')
    const filters = withoutUndefined<{ state?: 'open' | 'closed'; rule?: string }>({ state, rule })
    const asked = withoutUndefined<{ limit?: number; cursor?: string }>(page)
    const kept = await askHistoryIfThere(async () => ({
      page: await listAlerts(db, filters, asked),
      reports: await listChannelReports(db, ALERTS_QUEUE, clock.now()),
      config: await loadAlertConfig(db, clock.now()),
    }))
    const { items, nextCursor } = kept?.page ?? (await openInRedis(deps, filters))
    const silences = kept?.config.silences ?? []
    const nowMs = clock.now().getTime()
    res.json({
      items: items.map((alert) => alertView(alert, silences, nowMs)),
      nextCursor,
      channels: kept
        ? [...kept.reports].map(([name, { runId, state: runState, attempt, at, error }]) => ({
            name,
            runId,
            state: runState,
            attempt,
            at: at.toISOString(),
            error,
          }))
        : null,
      warnings: [
        ...(kept ? channelWarnings(kept.config.channels) : []),
        ...(await workerWarnings(deps)),
      ],
    })
  }
}

/** While Postgres is away. */
async function openInRedis(
  { redis, prefix }: ApiDeps,
  { state, rule }: { state?: string; rule?: string },
): Promise<Page<AlertState>> {
  if (state === 'closed') return { items: [], nextCursor: null }
  const all = await askRedis(() => readAlerts(redis, prefix))
  const items = all.filter((alert) => alert.phase === 'open' && (rule ?? alert.rule) === alert.rule)
  return { items: items.toSorted((a, b) => b.sinceMs - a.sinceMs).slice(0, 200), nextCursor: null }
}

function channelWarnings(channels: readonly { spec: AlertChannelSpec }[]): string[] {
  const isThere = channels.some(({ spec }) => spec.enabled && spec.default)
  if (isThere) return []
  return [
    'No channel is marked "default": alerts of rules that name no channels are told to nobody.',
  ]
}

async function workerWarnings({ redis, prefix, clock }: ApiDeps): Promise<string[]> {
  const workers = await askRedis(() => readWorkers(redis, prefix, clock.now().getTime())).catch(
    (error: unknown) => {
      if (error instanceof Problem) return undefined
      throw error
    },
  )
  if (!workers) return ['Redis is away: nothing is judged, and nobody is told, until it is back.']
  const isServed = workers.some(({ queues }) => queues.some(({ name }) => name === ALERTS_QUEUE))
  if (isServed) return []
  return ['No worker serves the queue alerts: messages wait there until one does.']
}

function alertView(
  state: AlertState,
  silences: readonly { spec: AlertSilenceSpec }[],
  nowMs: number,
): AlertAnswer {
  const { id, rule, kind, group, phase, sinceMs, closedMs, sent, lastSentMs } = state
  const { key, subject, summary, count, isAtLeast, examples } = group
  const isOpen = phase !== 'closed'
  const until = isOpen
    ? silences
        .filter(({ spec }) => isSilenced(spec, { rule, subject }, nowMs))
        .map(({ spec }) => Date.parse(spec.until))
    : []
  return {
    id,
    rule,
    kind,
    state: isOpen ? 'open' : 'closed',
    group: key,
    subject,
    summary,
    count,
    ...(isAtLeast === true ? { isAtLeast } : {}),
    examples,
    since: new Date(sinceMs).toISOString(),
    ...(isOpen || closedMs === undefined ? {} : { closedAt: new Date(closedMs).toISOString() }),
    messages: sent,
    ...(lastSentMs === undefined ? {} : { lastSentAt: new Date(lastSentMs).toISOString() }),
    ...(until.length > 0 ? { silencedUntil: new Date(Math.max(...until)).toISOString() } : {}),
  }
}

/** A real message, on the way that those of alerts take. */
function testHandler({ db, alertProducer, clock, publicUrl }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const given = AlertName.safeParse(req.params['name'])
    const name = given.data ?? ''
    const row = await askHistory(() => findAlertSetting(db, 'alert_channels', name))
    if (!row) throw new Problem('not-found', { detail: `There is no alert channel "${name}".` })
    const atMs = clock.now().getTime()
    const id = newRunId(atMs, randomFromPool(10))
    const target = channelTarget({ name, spec: AlertChannelSpec.parse(row.spec) })
    const message = testMessage(name, { id, atMs, publicUrl })
    const labels = { channel: name, rule: 'test' }
    const runId = await alertProducer.enqueue(target.job, targetPayload(target, message), {
      id,
      labels,
    })
    noteChange(res, { subject: `alerts/channels/${name}`, after: { runId } })
    res.status(202).location(`/api/v1/runs/${runId}`).json({ id: runId })
  }
}
