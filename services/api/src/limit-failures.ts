import { type Clock, MINUTE } from '@jadwal/domain'
import type { Request, RequestHandler } from 'express'
import { ipKeyGenerator, rateLimit } from 'express-rate-limit'
import { BoundedCounts } from './bounded-counts.ts'
import { Problem } from './problem.ts'

/** Wrong tokens in a minute from one address; and through one peer, which may be a proxy that tells of many. */
const MOST_OF_ADDRESS = 10
const MOST_OF_PEER = 200

export interface FailureLimits {
  /** Counts a wrong token. Throws a `Problem` when too many came. */
  count: (req: Request) => Promise<void>
  /** Throws a `Problem` when no token of where the request comes from is to be looked at for now. */
  refuseGuess: (req: Request) => void
  /** Counts a refusal that is not one of a token. False when so many came from there that it is not to be noted. */
  mayNote: (req: Request) => boolean
}

/**
 * Lets an address try ten wrong tokens a minute, then answers with a problem until the minute that began
 * with the first is over. A token that can't be guessed is not to be refused by this. Addresses that
 * a proxy tells are believed of trusted peers alone (`JADWAL_TRUSTED_PROXIES`), and the peer itself is
 * counted too, so that one that makes addresses up gains little. Each process counts for itself.
 */
export function limitFailures(
  clock: Pick<Clock, 'now'>,
  countSignIn: (outcome: 'wrong-token' | 'slowed-down') => void,
): FailureLimits {
  const ofEach = (): Limit[] => [
    limit(MOST_OF_ADDRESS, new BoundedCounts(MINUTE, clock), ({ ip }) => ip),
    limit(MOST_OF_PEER, new BoundedCounts(MINUTE, clock), ({ socket }) => socket.remoteAddress),
  ]
  const limits = ofEach()
  const noted = ofEach()
  return {
    async count(req) {
      countSignIn('wrong-token')
      for (const { handler } of limits) await asked(handler, req)
    },
    refuseGuess(req) {
      for (const { most, hits } of limits) {
        if (hits(req) < most) continue
        countSignIn('slowed-down')
        throw tooMany(most)
      }
    },
    mayNote(req) {
      return noted.every(({ most, add }) => add(req) <= most)
    },
  }
}

interface Limit {
  most: number
  handler: RequestHandler
  hits: (req: Request) => number
  add: (req: Request) => number
}

function limit(
  most: number,
  store: BoundedCounts,
  address: (req: Request) => string | undefined,
): Limit {
  // Of an IPv6 address its network: whoever has one has many.
  const keyOf = (req: Request): string => ipKeyGenerator(address(req) ?? '')
  const handler = rateLimit({
    windowMs: MINUTE,
    limit: most,
    store,
    keyGenerator: keyOf,
    standardHeaders: false,
    legacyHeaders: false,
    // Its advice would go to the console, past the log.
    validate: false,
    handler: (_req, _res, next) => next(tooMany(most)),
  })
  return {
    most,
    handler,
    hits: (req) => store.hits(keyOf(req)),
    add: (req) => store.increment(keyOf(req)).totalHits,
  }
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
