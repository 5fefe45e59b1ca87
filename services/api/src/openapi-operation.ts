import { z } from 'zod'
import type { PlacedOperation } from './endpoints.ts'
import type { JsonSchema, JsonSchemas } from './json-schemas.ts'
import type { AnswerDoc, BodyDoc, MediaDoc } from './operation.ts'
import { exampleProblem, type ProblemKind, problemStatus } from './problem.ts'
import { ProblemDocument } from './problem-schema.ts'

const JSON_TYPE = 'application/json'
const PROBLEM_TYPE = 'application/problem+json'

/** What any operation may answer. */
const ALWAYS: readonly ProblemKind[] = [
  'bad-request',
  'unauthorized',
  'forbidden',
  'internal',
  'redis-unavailable',
  'history-unavailable',
  'try-later',
]
/** What one that takes a body may answer besides. */
const OF_BODIES: readonly ProblemKind[] = [
  'malformed-json',
  'payload-too-large',
  'unsupported-media-type',
]

const UUID = z.uuid()
const NAME = z.string().min(1).max(100)

/** `/runs/:id` as `/runs/{id}`. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}

/** An operation as OpenAPI tells of it. */
export function openapiOperation(
  operation: PlacedOperation,
  schemas: JsonSchemas,
): Record<string, unknown> {
  const { role, doc, path } = operation
  const said = doc.description ?? ''
  const parameters = [
    ...parametersOf(pathParameters(operation), 'path', schemas),
    ...parametersOf(doc.query, 'query', schemas),
    ...parametersOf(doc.headers, 'header', schemas),
  ]
  return {
    operationId: operationIdOf(operation),
    summary: doc.summary,
    description: `${said}${said === '' ? '' : '\n\n'}Needs the role \`${role}\`, or a higher one.`,
    tags: [tagOf(path)],
    'x-jadwal-role': role,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(doc.body ? { requestBody: requestBody(doc.body, schemas) } : {}),
    responses: responses(operation, schemas),
  }
}

/** Its operation is looked up by this name in clients that are made from the document. */
function operationIdOf({ doc, method, path }: PlacedOperation): string {
  if (doc.id !== undefined) return doc.id
  const words = path
    .split('/')
    .filter((part) => part !== '')
    .flatMap((part) => (part.startsWith(':') ? ['by', part.slice(1)] : part.split(/[^a-z0-9]+/i)))
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** The first word of a path: `dead-letters` of `/dead-letters/groups`. */
export function tagOf(path: string): string {
  return path.split('/')[1] ?? ''
}

function pathParameters({ doc, path }: PlacedOperation): z.ZodObject {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const given: Record<string, unknown> = doc.params?.shape ?? {}
  return z.object(
    Object.fromEntries(
      names.map((name) => [name, asSchema(given[name]) ?? (name === 'id' ? UUID : NAME)]),
    ),
  )
}

function asSchema(value: unknown): z.ZodType | undefined {
  return value instanceof z.ZodType ? value : undefined
}

function parametersOf(
  of: z.ZodObject | undefined,
  place: 'path' | 'query' | 'header',
  schemas: JsonSchemas,
): Record<string, unknown>[] {
  if (!of) return []
  const { properties = {}, required = [] } = z
    .looseObject({
      properties: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
      required: z.array(z.string()).optional(),
    })
    .parse(schemas.ofInput(of))
  return Object.entries(properties).map(([name, { description, ...schema }]) => {
    const isRequired = place === 'path' || required.includes(name)
    const parameter = { name, in: place, required: isRequired }
    return description === undefined
      ? Object.assign(parameter, { schema })
      : Object.assign(parameter, { description, schema })
  })
}

function requestBody(body: BodyDoc, schemas: JsonSchemas): Record<string, unknown> {
  const { types = [JSON_TYPE], otherwise = {} } = body
  const schema = schemas.ofInput(body.schema)
  const forms = types.map((type) => [
    type,
    { schema, example: type === JSON_TYPE ? body.example : undefined },
  ])
  return {
    required: body.isOptional !== true,
    content: {
      ...Object.fromEntries(forms),
      ...media(otherwise, (each) => schemas.ofInput(each)),
    },
  }
}

function media(
  forms: Readonly<Record<string, MediaDoc>>,
  convert: (schema: z.ZodType) => JsonSchema,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(forms).map(([type, { schema, example }]) => [
      type,
      { schema: convert(schema), example },
    ]),
  )
}

function responses(operation: PlacedOperation, schemas: JsonSchemas): Record<string, unknown> {
  const answers = Object.entries(operation.doc.answers).map(([status, answer]) => [
    status,
    response(answer, schemas),
  ])
  return {
    ...Object.fromEntries(answers),
    ...problemResponses(problemsOf(operation), schemas),
  }
}

function response(answer: AnswerDoc, schemas: JsonSchemas): Record<string, unknown> {
  const { description, headers = {}, schema, example, type, otherwise = {} } = answer
  const own = schema
    ? { [type ?? JSON_TYPE]: { schema: schemas.ofOutput(schema), example } }
    : type === undefined
      ? {}
      : { [type]: { schema: { type: 'string' }, example } }
  const content = { ...own, ...media(otherwise, (each) => schemas.ofOutput(each)) }
  return {
    description,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
      ...Object.fromEntries(
        Object.entries(headers).map(([name, said]) => [
          name,
          { description: said, schema: { type: 'string' } },
        ]),
      ),
    },
    ...(Object.keys(content).length === 0 ? {} : { content }),
  }
}

/** The problems that an operation may answer with. */
function problemsOf({ doc, path }: PlacedOperation): ProblemKind[] {
  const kinds = [
    ...ALWAYS,
    ...(doc.body ? OF_BODIES : []),
    ...(path.includes(':') ? (['not-found'] as const) : []),
    ...(doc.problems ?? []),
  ]
  return [...new Set(kinds)]
}

function problemResponses(
  kinds: readonly ProblemKind[],
  schemas: JsonSchemas,
): Record<string, unknown> {
  const schema = schemas.ofOutput(ProblemDocument)
  const byStatus = new Map<number, ProblemKind[]>()
  for (const kind of kinds) {
    const status = problemStatus(kind)
    byStatus.set(status, [...(byStatus.get(status) ?? []), kind])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, those]) => [
      status,
      {
        description: those.map((kind) => `\`${kind}\``).join(', '),
        content: {
          [PROBLEM_TYPE]: {
            schema,
            examples: Object.fromEntries(
              those.map((kind) => [kind, { value: exampleProblem(kind) }]),
            ),
          },
        },
      },
    ]),
  )
}
