import type { RequestHandler } from 'express'
import helmet from 'helmet'

/**
 * Pages may load from this host alone: what Bull Board would fetch from elsewhere (its fonts) is
 * blocked. Its styles are inline. `upgrade-insecure-requests` would break plain HTTP, and whether all
 * of a domain is on TLS is for the proxy in front to say.
 */
export function securityHeaders(): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'script-src': ["'self'"],
        'style-src': ["'self'", "'unsafe-inline'"],
        'img-src': ["'self'", 'data:'],
        'font-src': ["'self'", 'data:'],
        'connect-src': ["'self'"],
        'form-action': ["'self'"],
        'base-uri': ["'self'"],
        'frame-ancestors': ["'none'"],
      },
    },
    strictTransportSecurity: false,
    referrerPolicy: { policy: 'same-origin' },
  })
}
