import type { JobDescription } from '@jadwal/domain'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

const ajv = addFormats.default(new Ajv2020({ allErrors: true, strict: false }))

/**
 * How a payload breaks its job's schema, each as path and sentence; empty when it does not. Values
 * that a worker resolves (`{ "secret": … }`) can't be checked here: the worker does.
 */
export function payloadProblems(job: JobDescription, payload: unknown): string[] {
  const check = ajv.compile(job.payloadSchema)
  if (check(payload)) return []
  return (check.errors ?? []).map((error) => {
    const extra = error.params['additionalProperty'] ?? error.params['allowedValues']
    const detail = extra === undefined ? '' : ` (${JSON.stringify(extra)})`
    return `${error.instancePath.replaceAll('/', '.')}: ${error.message ?? 'is wrong'}${detail}`
  })
}
