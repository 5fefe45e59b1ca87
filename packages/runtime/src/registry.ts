import { collectDefaultMetrics, Registry } from 'prom-client'

/** Prometheus takes a name in `_total` for a counter; these default gauges of prom-client are none. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** A registry of metrics that has Node's own in it. */
export function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  return registry
}
