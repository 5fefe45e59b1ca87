import { z } from 'zod'
import type { OperationDoc } from './operation.ts'

/** Whatever a browser or Bull Board's page puts into the query is let in. */
const AnyQuery = z.looseObject({})

/** Of an operation beside the api, which `openapi.json` does not have: what it is, and its type. */
export function besideDoc(summary: string, type: string): OperationDoc {
  return { summary, query: AnyQuery, answers: { 200: { description: summary, type } } }
}
