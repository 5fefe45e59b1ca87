import { isSecretRef, type JobDescription, REDACTED, redactPayload } from '@jadwal/domain'

/** Bytes of JSON that an entry of the audit log has of a request, of what was before, and of what came after. */
const MOST_BYTES = 15 * 1024
const LONGEST_TEXT = 2_000
/** So much of a text is looked at: a password that the cut would go through is known by what follows it. */
const LOOKED_AT = 4_000
const DEEPEST = 40
/** Stands for what was left out. */
const CUT = '…'

/** Members of such names are not for the audit log, whatever they hold. */
const SECRET =
  /secret|passw(or)?d|passphrase|token|authorization|cookie|credential|signature|hmac|(api|private|access|encryption)_?-?key/i
/** A password in an address. The scheme is bounded, as every letter may be where one begins. */
const ADDRESS_PASSWORD = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]*):[^\s/@]+@/gi

export interface Discretion {
  /** The jobs that there are: what they say of their payloads holds here too. */
  jobs: readonly JobDescription[]
  /** Further names of members that hold secrets. */
  secrets?: readonly string[]
}

/**
 * What of a value goes into the audit log: never a secret, nor what a job redacts or encrypts, and of
 * what is long, wide or deep only the beginning. Undefined stays undefined.
 */
export function auditable(value: unknown, { jobs, secrets = [] }: Discretion): unknown {
  const hidden = new Set(secrets)
  let bytesLeft = MOST_BYTES

  function spend(text: string): void {
    bytesLeft -= Buffer.byteLength(text) + 1
  }

  function copy(part: unknown, depth: number): unknown {
    if (bytesLeft <= 0 || depth > DEEPEST) return CUT
    if (part !== null && typeof part === 'object')
      return Array.isArray(part) ? copyList(part, depth) : copyMembers(part, depth)
    const plain = typeof part === 'string' ? shownText(part) : part
    spend(JSON.stringify(plain) ?? '')
    return plain
  }

  function copyList(list: readonly unknown[], depth: number): unknown[] {
    const copied: unknown[] = []
    for (const part of list) {
      if (bytesLeft <= 0) return [...copied, CUT]
      copied.push(copy(part, depth + 1))
    }
    spend('[]')
    return copied
  }

  function copyMembers(object: object, depth: number): unknown {
    if (object instanceof Date) return copy(object.toJSON(), depth)
    const copied: [string, unknown][] = []
    for (const [name, part] of Object.entries(object)) {
      if (bytesLeft <= 0) {
        copied.push([CUT, CUT])
        break
      }
      spend(JSON.stringify(name))
      copied.push([shownText(name), copy(shownMember(object, name, part), depth + 1)])
    }
    spend('{}')
    return Object.fromEntries(copied)
  }

  function shownMember(owner: object, name: string, part: unknown): unknown {
    if (isHidden(name) && part !== null && !isSecretRef(part) && typeof part !== 'boolean')
      return REDACTED
    return name === 'payload' ? shownPayload(part, Reflect.get(owner, 'job')) : part
  }

  function isHidden(name: string): boolean {
    return hidden.has(name) || SECRET.test(name)
  }

  /** Of a job that is not known, or not said, nobody knows what of it may be seen. */
  function shownPayload(payload: unknown, jobName: unknown): unknown {
    if (payload === null || payload === undefined) return payload
    const job = jobs.find(({ name }) => name === jobName)
    if (!job || job.encrypt === true) return REDACTED
    return job.redact ? redactPayload(payload, job.redact) : payload
  }

  return value === undefined ? undefined : copy(value, 0)
}

function shownText(text: string): string {
  const shown = text.slice(0, LOOKED_AT).replace(ADDRESS_PASSWORD, `$1:${REDACTED}@`)
  return shown.length <= LONGEST_TEXT ? shown : `${shown.slice(0, LONGEST_TEXT)}${CUT}`
}
