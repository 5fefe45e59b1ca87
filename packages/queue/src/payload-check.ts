import { isSecretRef, type JobDescription } from '@jadwal/domain'
import { type ErrorObject, Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** Who reads them mends them a few at a time. */
const MOST_PROBLEMS = 20

/** What is wrong with one field of a payload. */
export interface PayloadProblem {
  /** Dotted path, such as `payload.to`. */
  field: string
  /** Follows the field: `must be there`. */
  message: string
}

/**
 * Checks payloads against the JSON Schemas of the catalogue. A schema is compiled once; a worker that
 * publishes another one for the job replaces it.
 */
export class PayloadCheck {
  readonly #compiled = new Map<string, { schema: string; validate: ValidateFunction | undefined }>()

  /**
   * The fields of a payload that do not fit the job, the first ones when there are very many. What a
   * reference to a secret stands for is left to the worker.
   */
  problems(job: JobDescription, payload: unknown): PayloadProblem[] {
    const validate = this.#validatorOf(job)
    if (!validate || validate(payload)) return []
    const problems: PayloadProblem[] = []
    for (const error of validate.errors ?? []) {
      if (isOwedToSecret(error, payload)) continue
      if (problems.length === MOST_PROBLEMS) {
        return [...problems, { field: 'payload', message: 'has further problems' }]
      }
      problems.push(payloadProblem(error))
    }
    return problems
  }

  #validatorOf(job: JobDescription): ValidateFunction | undefined {
    const schema = JSON.stringify(job.payloadSchema)
    const known = this.#compiled.get(job.name)
    if (known?.schema === schema) return known.validate
    const validate = compile(job.payloadSchema)
    this.#compiled.set(job.name, { schema, validate })
    return validate
  }
}

/** Undefined for a schema that cannot be compiled: the worker checks every payload by its own means. */
function compile(schema: Record<string, unknown>): ValidateFunction | undefined {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false })
  addFormats.default(ajv)
  try {
    return ajv.compile(schema)
  } catch {
    return undefined
  }
}

function payloadProblem(error: ErrorObject): PayloadProblem {
  const path = pathOf(error)
  const extra =
    'additionalProperty' in error.params ? String(error.params['additionalProperty']) : undefined
  if (extra !== undefined)
    return { field: ['payload', ...path, extra].join('.'), message: 'is not known' }
  const missing =
    'missingProperty' in error.params ? String(error.params['missingProperty']) : undefined
  if (missing !== undefined)
    return { field: ['payload', ...path, missing].join('.'), message: 'must be there' }
  const allowed =
    'allowedValues' in error.params ? `: ${JSON.stringify(error.params['allowedValues'])}` : ''
  return {
    field: ['payload', ...path].join('.'),
    message: `${error.message ?? 'is wrong'}${allowed}`,
  }
}

/** Whether an error lies at or under a reference to a secret, which only the worker can put in. */
function isOwedToSecret(error: ErrorObject, payload: unknown): boolean {
  let value = payload
  for (const key of pathOf(error)) {
    if (isSecretRef(value)) return true
    value = value !== null && typeof value === 'object' ? Reflect.get(value, key) : undefined
  }
  return isSecretRef(value) || (/^(anyOf|oneOf)$/.test(error.keyword) && holdsSecretRef(value))
}

function holdsSecretRef(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false
  return isSecretRef(value) || Object.values(value).some(holdsSecretRef)
}

/** The keys of a JSON pointer. */
function pathOf(error: ErrorObject): string[] {
  return error.instancePath
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}
