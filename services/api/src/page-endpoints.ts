import type { Admission, ApiDeps } from './api-deps.ts'
import { besideDoc } from './beside-docs.ts'
import { Endpoints } from './endpoints.ts'
import { pageHandler } from './page.ts'

/** What is served beside the api: the front page and the metrics. */
export function pageEndpoints(deps: ApiDeps, admission: Admission): Endpoints {
  const endpoints = new Endpoints(deps.audit)
  endpoints.add('/', {
    get: {
      role: 'viewer',
      doc: besideDoc('The front page', 'text/html'),
      handle: pageHandler(deps, admission.adminToken !== undefined),
    },
  })
  endpoints.add('/metrics', {
    get: {
      role: 'viewer',
      doc: besideDoc('The metrics, for Prometheus', 'text/plain'),
      handle: async (_req, res) => {
        const { text, contentType } = await deps.metrics.read()
        res.set('Content-Type', contentType).send(text)
      },
    },
  })
  return endpoints
}
