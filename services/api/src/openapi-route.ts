import { z } from 'zod'
import type { Endpoints } from './endpoints.ts'
import { docsPage } from './docs-page.ts'
import type { Html } from './html.ts'
import { layout } from './layout.ts'
import { API_PATH, openapiDocument } from './openapi.ts'
import { publicPath } from './public-path.ts'

/** `/openapi.json` and `/docs`: all operations of `endpoints`, also those that are added later. */
export function addOpenapiRoute(endpoints: Endpoints): void {
  let text: string | undefined
  let page: Html | undefined
  endpoints.add('/openapi.json', {
    get: {
      role: 'viewer',
      doc: {
        id: 'getOpenapi',
        summary: 'This document',
        description: 'Every operation of the api, in OpenAPI 3.1.',
        answers: {
          200: {
            description: 'The document.',
            schema: z.looseObject({
              openapi: z.string(),
              info: z.looseObject({ title: z.string() }),
              paths: z.record(z.string(), z.unknown()),
            }),
            example: { openapi: '3.1.0', info: { title: 'Jadwal', version: '1' }, paths: {} },
          },
        },
      },
      handle: (_req, res) => {
        const server = publicPath(res, API_PATH)
        text ??= JSON.stringify(openapiDocument(endpoints.operations, server))
        res.type('json').send(text)
      },
    },
  })
  endpoints.add('/docs', {
    get: {
      role: 'viewer',
      doc: {
        id: 'getDocs',
        summary: 'This document, as a page to read',
        answers: {
          200: { description: 'The page.', type: 'text/html', example: '<!doctype html>…' },
        },
      },
      handle: (_req, res) => {
        const server = publicPath(res, API_PATH)
        page ??= docsPage(openapiDocument(endpoints.operations, server), server)
        res.type('html').send(layout(page, { base: publicPath(res, '/') }))
      },
    },
  })
}
