import type { RequestHandler, Response } from 'express'

/**
 * Behind a proxy the api may be reached below a path of `JADWAL_PUBLIC_URL`, the base: `/jobs`, or '' for
 * none. Inside, every path is without it. Here is where it is taken off what comes in, whether the proxy
 * has done so already or not, and put before what goes out.
 */
const BASE = Symbol('base path')
type Locals = Record<symbol, string | undefined>

/** The part of an address that stands before every path of Jadwal: '' or as `/jobs`. */
export function basePathOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')
}

/** The first names of Jadwal's own paths: a base of that name could not be told from them. */
const OWN = /^\/(api|queues|login|logout|metrics|healthz|readyz)(\/|$)/

/** What is wrong with a `JADWAL_PUBLIC_URL`; undefined when nothing is. */
export function publicUrlProblem(publicUrl: string): string | undefined {
  const { search, hash, username } = new URL(publicUrl)
  if (search + hash + username !== '') return 'must have neither a user nor a query nor a fragment'
  const base = basePathOf(publicUrl)
  if (!/^(\/[\w.~-]+)*$/.test(base))
    return 'must have a path of letters, digits, ".", "_", "~" and "-"'
  if (OWN.test(base)) return `has a path that begins as one of Jadwal's own, ${base}: take another`
  return undefined
}

/** Stands above everything else. From here on `req.url` and `req.originalUrl` are without the base; a `Location` within this site gets it. */
export function servePublicPath(base: string): RequestHandler {
  return (req, res, next) => {
    ;(res.locals as Locals)[BASE] = base
    if (base === '') return next()
    const inside = withoutBase(req.url, base)
    req.url = inside
    req.originalUrl = inside
    const location = res.location.bind(res)
    res.location = (url) => location(isWithin(url) ? base + url : url)
    next()
  }
}

/** A path of Jadwal as a browser has to ask for it: what every link, form, cookie and script needs. */
export function publicPath(res: Response, path: string): string {
  return ((res.locals as Locals)[BASE] ?? '') + path
}

/** Of this site: neither an address with a host nor `//host`. */
function isWithin(url: string): boolean {
  return /^\/(?![/\\])/.test(url)
}

function withoutBase(url: string, base: string): string {
  if (!url.startsWith(base)) return url
  const rest = url.slice(base.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : url
}
