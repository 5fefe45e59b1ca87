import type { PlacedOperation } from './endpoints.ts'
import { JsonSchemas } from './json-schemas.ts'
import { openapiOperation, tagOf, templateOf } from './openapi-operation.ts'
import { SESSION_COOKIE } from './session.ts'

/** Where the api is, below the address of the service. */
export const API_PATH = '/api/v1'

const INTRODUCTION = `Jobs, runs and schedules over HTTP.

Bodies are JSON unless an operation says otherwise, and times ISO 8601 in UTC. Lists are \`{ items, nextCursor }\`: ask again with \`cursor\` until \`nextCursor\` is null. What goes wrong is answered with a problem document (RFC 9457), which names each field that is wrong. Members may be added to answers; what a request says must be known.`

/** The OpenAPI 3.1 document of the operations, which are below the address `server`. */
export function openapiDocument(
  operations: readonly PlacedOperation[],
  server: string,
): Record<string, unknown> {
  const schemas = new JsonSchemas()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const own = (paths[templateOf(operation.path)] ??= {})
    own[operation.method] = openapiOperation(operation, schemas)
  }
  const tags = [...new Set(operations.map(({ path }) => tagOf(path)))]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Jadwal',
      version: '1',
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: server }],
    security: [{ bearer: [] }, { session: [] }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas.named,
      headers: {
        'X-Request-Id': {
          description:
            'Finds the request in the log: the one that was sent, if it was 1 to 64 letters, digits, `_`, `.` and `-`, or else a new one.',
          schema: { type: 'string' },
        },
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A token.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: SESSION_COOKIE,
          description: 'The session of a browser that has signed in.',
        },
      },
    },
  }
}
