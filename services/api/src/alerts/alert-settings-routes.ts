import {
  type AlertSettingRow,
  type AlertSettingTable,
  deleteAlertSetting,
  findAlertSetting,
  listAlertSettings,
  putAlertSetting,
} from '@jadwal/db'
import { AlertName, AlertRuleSpec, AlertSilenceSpec, type Role } from '@jadwal/domain'
import type { Request, RequestHandler } from 'express'
import { z } from 'zod'
import type { ApiDeps } from '../api-deps.ts'
import { askHistory } from '../ask.ts'
import { noteChange } from '../audit.ts'
import { callerOf } from '../caller.ts'
import type { Endpoints } from '../endpoints.ts'
import { jsonBody, SHORT_BODY } from '../json-body.ts'
import { type FieldError, Problem } from '../problem.ts'
import { readPageQuery } from '../run-query.ts'
import { fieldErrors, parseRequest } from '../zod-problem.ts'
import { CHANNEL_WORDS, RULE_WORDS, settingDocs, SILENCE_WORDS } from './alert-docs.ts'
import { CHANNEL_SECRETS, readChannel, shownChannel } from './channel-secrets.ts'

/** One kind of what people set about alerts. */
interface SettingKind {
  path: 'rules' | 'channels' | 'silences'
  table: AlertSettingTable
  /** What one is called in problems. */
  word: string
  /** Who may change them. */
  role: Role
  docs: ReturnType<typeof settingDocs>
  read: (body: unknown, before: object | undefined) => { spec: object } | { errors: FieldError[] }
  show: (spec: object) => object
}

const KINDS: readonly SettingKind[] = [
  {
    path: 'rules',
    table: 'alert_rules',
    word: 'alert rule',
    role: 'operator',
    docs: settingDocs(RULE_WORDS),
    read: readerOf(AlertRuleSpec),
    // Those that a migration made leave out what is as usual.
    show: (spec) => AlertRuleSpec.safeParse(spec).data ?? spec,
  },
  {
    path: 'channels',
    table: 'alert_channels',
    word: 'alert channel',
    role: 'admin',
    docs: settingDocs(CHANNEL_WORDS),
    read: readChannel,
    show: shownChannel,
  },
  {
    path: 'silences',
    table: 'alert_silences',
    word: 'alert silence',
    role: 'operator',
    docs: settingDocs(SILENCE_WORDS),
    read: readerOf(AlertSilenceSpec),
    show: (spec) => spec,
  },
]

/** `/alerts/rules`, `/alerts/channels`, `/alerts/silences`: what people set about alerts. */
export function addAlertSettingsRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  for (const kind of KINDS) {
    const { path, role, docs } = kind
    endpoints.add(`/alerts/${path}`, {
      get: { role: 'viewer', doc: docs.list, handle: listHandler(deps, kind) },
    })
    endpoints.add(`/alerts/${path}/:name`, {
      get: { role: 'viewer', doc: docs.read, handle: readHandler(deps, kind) },
      put: {
        role,
        doc: docs.put,
        audit: `alerts.${path}.put`,
        secrets: CHANNEL_SECRETS,
        handle: [...jsonBody(SHORT_BODY), putHandler(deps, kind)],
      },
      delete: {
        role,
        doc: docs.remove,
        audit: `alerts.${path}.delete`,
        secrets: CHANNEL_SECRETS,
        handle: deleteHandler(deps, kind),
      },
    })
  }
}

function readerOf(schema: z.ZodType<object>): SettingKind['read'] {
  return (body) => {
    const read = schema.safeParse(body)
    return read.success ? { spec: read.data } : { errors: read.error.issues.flatMap(fieldErrors) }
  }
}

function listHandler({ db }: ApiDeps, { table, show }: SettingKind): RequestHandler {
  return async (req, res) => {
    const page = readPageQuery(req.query)
    const { items, nextCursor } = await askHistory(() => listAlertSettings(db, table, page))
    res.json({ items: items.map((row) => settingView(row, show)), nextCursor })
  }
}

function readHandler(deps: ApiDeps, kind: SettingKind): RequestHandler {
  return async (req, res) => {
    res.json(settingView(await requireSetting(deps, kind, req), kind.show))
  }
}

const SettingPath = z.object({ name: AlertName })

function putHandler({ db }: ApiDeps, { table, read, show }: SettingKind): RequestHandler {
  return async (req, res) => {
    const { name } = parseRequest(SettingPath, { name: req.params['name'] }, 'path')
    const author = callerOf(res).name
    const make = (current: object | undefined) => {
      const parsed = read(req.body, current)
      if ('errors' in parsed) throw badFields(parsed.errors)
      return { spec: parsed.spec, author, ...untilOf(table, parsed.spec) }
    }
    const changed = await askHistory(() => putAlertSetting(db, table, { name, make }))
    const before = changed.before ? settingView(changed.before, show) : null
    const after = settingView(changed.after, show)
    noteChange(res, { before, after })
    res.status(before ? 200 : 201).json(after)
  }
}

function untilOf(table: AlertSettingTable, spec: object): { until?: Date } {
  if (table !== 'alert_silences') return {}
  return { until: new Date(AlertSilenceSpec.parse(spec).until) }
}

function deleteHandler({ db }: ApiDeps, kind: SettingKind): RequestHandler {
  return async (req, res) => {
    const name = AlertName.safeParse(req.params['name'])
    const before = name.success
      ? await askHistory(() => deleteAlertSetting(db, kind.table, name.data))
      : undefined
    if (!before) throw noSetting(kind, String(req.params['name']))
    noteChange(res, { before: settingView(before, kind.show), after: null })
    res.status(204).end()
  }
}

function badFields(errors: readonly FieldError[]): Problem {
  const said = errors.map(({ field, message }) => `${field} ${message}`).join('; ')
  return new Problem('bad-request', { detail: `body: ${said}`, errors })
}

async function requireSetting(
  { db }: ApiDeps,
  { table, word }: SettingKind,
  req: Request,
): Promise<AlertSettingRow> {
  const name = AlertName.safeParse(req.params['name'])
  const found = name.success
    ? await askHistory(() => findAlertSetting(db, table, name.data))
    : undefined
  if (found) return found
  throw noSetting({ word }, String(req.params['name']))
}

function noSetting({ word }: Pick<SettingKind, 'word'>, name: string): Problem {
  return new Problem('not-found', { detail: `There is no ${word} "${name.slice(0, 100)}".` })
}

function settingView(
  { name, spec, author, revision, changed_at: changedAt }: AlertSettingRow,
  show: SettingKind['show'],
) {
  return { name, ...show(spec), author, revision, changedAt: changedAt.toISOString() }
}
