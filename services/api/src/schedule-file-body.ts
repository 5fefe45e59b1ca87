import { type Clock, readScheduleFileStepwise, type ScheduleFile } from '@jadwal/domain'
import { readYaml } from '@jadwal/runtime'
import { json, type RequestHandler, text } from 'express'
import { inSlices } from './in-slices.ts'
import { refuseDeepJson } from './json-depth.ts'
import { Problem } from './problem.ts'
import { scheduleProblem } from './schedule-problems.ts'

/** A hundred thousand schedules, with room. */
const LARGEST_JSON = '32mb'
/** Reading YAML takes a second a megabyte, and nothing else is answered meanwhile. */
const LARGEST_YAML_BYTES = 1024 * 1024

export const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml']

/** Reads a whole schedule file, JSON or YAML, into `req.body`. */
export function scheduleFileBody(): RequestHandler[] {
  return [
    requireDocument,
    limitYaml,
    text({ limit: LARGEST_YAML_BYTES, type: YAML_TYPES }),
    json({ limit: LARGEST_JSON, type: 'application/json', verify: refuseDeepJson }),
    parseYaml,
  ]
}

/** Checks a schedule file as a whole. Throws a `Problem` that names everything that is wrong. */
export async function readFileBody(body: unknown, clock: Clock): Promise<ScheduleFile> {
  const read = await inSlices(readScheduleFileStepwise(body), clock)
  if (read.ok) return read.file
  throw scheduleProblem('bad-request', read.problems)
}

/** Also keeps pages of other sites out: a browser sends these elsewhere only after asking. */
const requireDocument: RequestHandler = (req, _res, next) => {
  if (req.is(['application/json', ...YAML_TYPES])) return next()
  throw new Problem('unsupported-media-type', {
    detail: 'Send the file as "Content-Type: application/json" or "application/yaml".',
  })
}

/** Says before it is sent what is too large, and what would be right. */
const limitYaml: RequestHandler = (req, _res, next) => {
  const bytes = Number(req.headers['content-length'])
  if (!req.is(YAML_TYPES) || !(bytes > LARGEST_YAML_BYTES)) return next()
  throw new Problem('payload-too-large', {
    detail: `The file has ${bytes} bytes, and as YAML at most ${LARGEST_YAML_BYTES} are taken: send it as JSON, of which ${LARGEST_JSON} are.`,
  })
}

const parseYaml: RequestHandler = (req, _res, next) => {
  if (!req.is(YAML_TYPES)) return next()
  const document = readYaml(String(req.body ?? ''))
  if (!document.ok)
    throw new Problem('malformed-yaml', { detail: document.problems.slice(0, 20).join('; ') })
  req.body = document.value
  next()
}
