import {
  type Expected,
  findCalendarTag,
  findScheduleTag,
  isExpected,
  type PreconditionFailedError,
} from '@jadwal/db'
import type { Request, Response } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import { fieldProblem, Problem } from './problem.ts'

/** A proxy that compresses makes a tag weak; it stands for the same version. */
const ONE = '(?:W/)?"[\\x21\\x23-\\x7e]*"'
const TAGS = new RegExp(`^\\s*${ONE}(?:\\s*,\\s*${ONE})*\\s*$`)

/** What a request expects of what it changes: `If-Match` and `If-None-Match`. Throws a `Problem`. */
export function readExpected({ headers }: Request): Expected {
  const match = readTags('If-Match', headers['if-match'])
  const noneMatch = readTags('If-None-Match', headers['if-none-match'])
  return {
    ...(match === undefined ? {} : { match }),
    ...(noneMatch === undefined ? {} : { noneMatch }),
  }
}

/** Says which schedule is answered with. True: who asks has it already, and was told so. Before the schedule is read. */
export async function tagSchedule(
  { db }: Pick<ApiDeps, 'db'>,
  req: Request,
  res: Response,
): Promise<boolean> {
  const name = String(req.params['name'])
  return answerTag(await askHistory(() => findScheduleTag(db, name)), req, res)
}

/** Likewise of a calendar. */
export async function tagCalendar(
  { db }: Pick<ApiDeps, 'db'>,
  req: Request,
  res: Response,
): Promise<boolean> {
  const name = String(req.params['name'])
  return answerTag(await askHistory(() => findCalendarTag(db, name)), req, res)
}

/** Says which schedule or calendar a change has made. */
export function sendTag(res: Response, tag: string): void {
  res.set('ETag', `"${tag}"`)
}

function answerTag(tag: string | undefined, req: Request, res: Response): boolean {
  if (tag === undefined) return false
  sendTag(res, tag)
  const isReading = req.method === 'GET' || req.method === 'HEAD'
  const { noneMatch } = isReading ? readExpected(req) : {}
  if (noneMatch === undefined || isExpected(tag, { noneMatch })) return false
  res.status(304).end()
  return true
}

/** The answer to one who would have changed what somebody else has changed meanwhile. */
export function changedSince({ tag }: PreconditionFailedError): Problem {
  const detail =
    tag === undefined
      ? 'It is not there, and If-Match says that it must be. Nothing was changed.'
      : `It is "${tag}" now, which If-Match or If-None-Match rules out. Nothing was changed: read it again.`
  return new Problem('precondition-failed', {
    detail,
    headers: tag === undefined ? {} : { ETag: `"${tag}"` },
  })
}

function readTags(field: string, header: string | undefined): Expected['match'] | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  if (!TAGS.test(header))
    throw fieldProblem('bad-request', field, 'must be * or tags in quotes, such as "1042"')
  return [...header.matchAll(/"([^"]*)"/g)].map(([, tag = '']) => tag)
}
