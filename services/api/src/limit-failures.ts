import { type Clock, MINUTE } from '@jadwal/domain'
import type { Request, RequestHandler } from 'express'
import { ipKeyGenerator, rateLimit } from 'express-rate-limit'
import { BoundedCounts } from './bounded-counts.ts'
import { Problem } from './problem.ts'

/** Wrong tokens in a minute from one address; and through one peer, which may be a proxy that tells of many. */
const MOST_OF_ADDRESS = 10
const MOST_OF_PEER = 200

/** Counts a wrong token. Throws a `Problem` when too many came. */
export type CountFailure = (req: Request) => Promise<void>

/**
 * Lets an address try ten wrong tokens a minute, then answers with a problem until the minute is over.
 * To be asked only when a token turned out to be wrong, so that a right one always passes. Addresses that
 * a proxy tells are believed of trusted peers alone (`JADWAL_TRUSTED_PROXIES`), and the peer itself is
 * counted too, so that one that makes addresses up gains little. Each process counts for itself.
 */
export function limitFailures(clock: Pick<Clock, 'now'>): CountFailure {
  const ofAddress = new BoundedCounts(MINUTE, clock)
  const ofPeer = new BoundedCounts(MINUTE, clock)
  const limits = [
    limit(MOST_OF_ADDRESS, ofAddress, ({ ip }) => ip),
    limit(MOST_OF_PEER, ofPeer, ({ socket }) => socket.remoteAddress),
  ]
  return async (req) => {
    for (const one of limits) await asked(one, req)
  }
}

function limit(
  most: number,
  store: BoundedCounts,
  address: (req: Request) => string | undefined,
): RequestHandler {
  return rateLimit({
    windowMs: MINUTE,
    limit: most,
    store,
    // Of an IPv6 address its network: whoever has one has many.
    keyGenerator: (req) => ipKeyGenerator(address(req) ?? ''),
    standardHeaders: false,
    legacyHeaders: false,
    // Its advice would go to the console, past the log.
    validate: false,
    handler: (_req, _res, next) => next(tooMany(most)),
  })
}

async function asked(handler: RequestHandler, req: Request): Promise<void> {
  const { res } = req
  if (!res) return
  await new Promise<void>((resolve, reject) => {
    void handler(req, res, (error?: unknown) => {
      if (error instanceof Error) reject(error)
      else resolve()
    })
  })
}

function tooMany(most: number): Problem {
  return new Problem('too-many-failures', {
    detail: `More than ${most} wrong tokens came from this address within a minute.`,
    headers: { 'Retry-After': String(MINUTE / 1_000) },
  })
}
