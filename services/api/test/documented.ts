import type { TestApi } from './setup-api.ts'

interface Said {
  operationId: string
}

/** What `openapi.json` has: every operation as the page heads it, and the names of all schemas. */
export async function documented(api: TestApi) {
  const { body } = await api.ask('/api/v1/openapi.json')
  const paths = body.paths as Record<string, Record<string, Said>>
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({
      id: operationId,
      head: `${method.toUpperCase()} ${path}`,
    })),
  )
  return { operations, schemas: Object.keys(body.components.schemas) }
}
