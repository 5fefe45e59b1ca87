import { hash } from 'node:crypto'
import { payloadJson } from './payload-json.ts'

/** Tells whether two payloads of a job are the same, whatever the order of their keys: 43 characters. Throws `InvalidRunError`. */
export function payloadHash(job: string, payload: unknown): string {
  return hash('sha256', `${job} ${canonicalJson(payload)}`, 'base64url')
}

/** What JSON.stringify writes, with the keys of each object in one order. */
export function canonicalJson(value: unknown): string {
  return payloadJson(value, {
    replacer: (_key, each) =>
      each !== null && typeof each === 'object' && !Array.isArray(each)
        ? Object.fromEntries(Object.entries(each).toSorted(byKey))
        : each,
  })
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1
}
