import type { RequestHandler } from 'express'
import { z } from 'zod'
import { Problem } from './problem.ts'

/**
 * Refuses parameters of the query that an operation does not have. One that is misspelled would
 * otherwise go unheard, and a list be answered as if nothing had been asked.
 */
export function checkQuery(query: z.ZodObject | undefined): RequestHandler {
  const known = Object.keys(query?.shape ?? {})
  const others = query?.def.catchall
  const takesAny = others !== undefined && !(others instanceof z.ZodNever)
  return (req, _res, next) => {
    const unknown = Object.keys(req.query).filter((name) => !known.includes(name))
    if (takesAny || unknown.length === 0) return next()
    const there = known.length === 0 ? 'there is none' : `there are ${known.join(', ')}`
    const errors = unknown.map((field) => ({ field, message: `is not known; ${there}` }))
    throw new Problem('bad-request', {
      detail: `query: ${errors.map(({ field, message }) => `${field} ${message}`).join('; ')}`,
      errors,
    })
  }
}
