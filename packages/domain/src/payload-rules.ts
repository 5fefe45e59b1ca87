import { isEnvelope } from './envelope.ts'
import type { RunMessage } from './message.ts'
import { type PayloadPath, REDACTED, redactPayload, valuesAt } from './payload-path.ts'

/** What a job says of its payloads. */
export interface PayloadRules {
  searchable?: readonly PayloadPath[] | undefined
  redact?: readonly PayloadPath[] | undefined
  encrypt?: boolean | undefined
}

/** Of a payload, what the history has. */
export interface KeptPayload {
  payload: unknown
  /** What its search finds; absent where there is nothing to find. */
  search?: string
}

/** In characters. */
const LONGEST_SEARCH_TEXT = 1_000

/**
 * What of a message's payload may be recorded or shown: everything that becomes a fact, an answer or a
 * page goes through here. An encrypted payload stays in its envelope; one that was sent before its job
 * asked for encryption is not recorded. Where it is not known what the job says (`rules` undefined),
 * nothing is.
 */
export function keptPayload(
  { payload, search }: Pick<RunMessage, 'payload' | 'search'>,
  rules: PayloadRules | undefined,
): KeptPayload {
  if (isEnvelope(payload)) return search === undefined ? { payload } : { payload, search }
  if (!rules || rules.encrypt) return { payload: REDACTED }
  const text = searchText(payload, rules)
  const kept = rules.redact ? redactPayload(payload, rules.redact) : payload
  return text === undefined ? { payload: kept } : { payload: kept, search: text }
}

/** Whether payloads of such a job are recorded as they are. */
export function isPlain(rules: PayloadRules): boolean {
  return !rules.encrypt && !rules.redact?.length && !rules.searchable?.length
}

/** What two definitions of a job say together: where one of them hides something, it is hidden. */
export function mergedRules(one: PayloadRules, other: PayloadRules): PayloadRules {
  return {
    searchable: [...new Set([...(one.searchable ?? []), ...(other.searchable ?? [])])],
    redact: [...new Set([...(one.redact ?? []), ...(other.redact ?? [])])],
    encrypt: one.encrypt === true || other.encrypt === true,
  }
}

/** The values at the searchable paths as one text, cut where it is long; never what is redacted. Undefined when there are none. */
export function searchText(
  payload: unknown,
  { searchable, redact = [] }: PayloadRules,
): string | undefined {
  if (!searchable?.length) return undefined
  const found = valuesAt(redactPayload(payload, redact), searchable)
  const texts = textsIn(found).filter((text) => text !== '' && text !== REDACTED)
  if (texts.length === 0) return undefined
  const text = [...new Set(texts)].join('\n')
  // Half a pair of surrogates is no text that can be stored.
  return text.slice(0, LONGEST_SEARCH_TEXT).replace(/[\ud800-\udbff]$/, '')
}

/** What stands at the redacted paths, as texts: what is not to be found in anything that an attempt leaves behind. */
export function redactedTexts(payload: unknown, { redact }: PayloadRules): string[] {
  return redact?.length ? textsIn(valuesAt(payload, redact)) : []
}

/**
 * Whether a payload that was recorded lacks what its run needs: it is not what was sent. Any text
 * `[redacted]` counts, wherever it stands: what its job redacted when it was recorded the job need not say
 * any more, and a handler must never get `[redacted]` for a value.
 */
export function isRedacted(payload: unknown): boolean {
  if (payload === REDACTED) return true
  if (payload === null || typeof payload !== 'object') return false
  return Object.values(payload).some(isRedacted)
}

/** Texts and numbers in a value, however deep. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (value === null || typeof value !== 'object') return []
  return Object.values(value).flatMap(textsIn)
}
