import {
  findVersion,
  listVersions,
  type RecordedVersion,
  rollBackSchedule,
  tellingSchedule,
} from '@jadwal/db'
import { readSchedule, ScheduleName } from '@jadwal/domain'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import { noteChange } from './audit.ts'
import { callerOf } from './caller.ts'
import { makeChange, ofTheFile } from './change-schedules.ts'
import { readExpected, sendTag } from './etag.ts'
import type { Endpoints } from './endpoints.ts'
import { jsonBody, SHORT_BODY } from './json-body.ts'
import { Problem } from './problem.ts'
import { RollbackBody } from './rollback-request.ts'
import { readPageQuery } from './run-query.ts'
import { listVersionsDoc, rollbackDoc, type VersionAnswer } from './schedule-acts-docs.ts'
import { ScheduleJobs } from './schedule-jobs.ts'
import { scheduleProblem } from './schedule-problems.ts'
import { noSchedule, requireSchedule, viewSchedule } from './schedules-routes.ts'
import { versionDiff } from './version-diff.ts'
import { parseRequest } from './zod-problem.ts'

/** `…/versions` and `…/rollback` of a schedule. */
export function addVersionsRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/schedules/:name/versions', {
    get: { role: 'viewer', doc: listVersionsDoc, handle: listHandler(deps) },
  })
  endpoints.add('/schedules/:name/rollback', {
    post: {
      role: 'operator',
      doc: rollbackDoc,
      handle: [...jsonBody(SHORT_BODY), rollbackHandler(deps)],
    },
  })
}

/** Also of a deleted schedule: its last version says who deleted it. */
function listHandler({ db }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const page = readPageQuery(req.query)
    const name = ScheduleName.safeParse(req.params['name']).data
    const versions =
      name === undefined ? undefined : await askHistory(() => listVersions(db, name, page))
    if (!versions) throw noSchedule(req.params['name'])
    const { items, nextCursor } = versions
    res.json({ items: items.map(versionView), nextCursor })
  }
}

function versionView(version: RecordedVersion): VersionAnswer {
  const { content, before, reason, until_at: until } = version
  return {
    version: version.version,
    author: version.author,
    at: version.from_at.toISOString(),
    until: until?.toISOString() ?? null,
    ...(reason === null ? {} : { reason }),
    ...(version.deleted_by === null
      ? {}
      : { deleted: { author: version.deleted_by, reason: version.deleted_reason } }),
    spec: content.spec,
    ...(before ? { diff: versionDiff(before, content) } : {}),
  }
}

function rollbackHandler(deps: ApiDeps): RequestHandler {
  const jobs = new ScheduleJobs(deps)
  return async (req, res) => {
    const { version, reason } = parseRequest(RollbackBody, req.body, 'body')
    const { name, source } = await requireSchedule(deps, req.params['name'])
    if (source === 'file') throw ofTheFile(`schedule "${name}"`)
    const found = await askHistory(() => findVersion(deps.db, name, version))
    if (!found) throw noVersion(name, version)
    const base = ['schedules', name]
    const read = readSchedule(found.spec, base)
    if (!read.ok) throw scheduleProblem('bad-request', read.problems)
    await jobs.check([{ name, spec: read.spec }])
    const rollback = {
      name,
      version,
      author: callerOf(res).name,
      precondition: { schedule: name, ...readExpected(req) },
      ...(reason === undefined ? {} : { reason }),
    }
    const { outcome, before, after } = await makeChange(deps, () =>
      tellingSchedule(deps.db, name, (tx) => rollBackSchedule(tx, rollback)),
    )
    if (!outcome || !before || !after) throw noVersion(name, version)
    if (outcome.foreign.length > 0) throw ofTheFile(`schedule "${name}"`)
    noteChange(res, { before: before.schedule.spec, after: after.schedule.spec })
    sendTag(res, after.tag)
    res.json(await viewSchedule(deps, after.schedule))
  }
}

function noVersion(name: string, version: number): Problem {
  return new Problem('not-found', {
    detail: `The schedule "${name}" has no version ${version}: GET …/versions lists those it has.`,
  })
}
