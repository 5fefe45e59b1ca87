import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { type Envelope, envelopeKeyId } from '@jadwal/domain'
import { canonicalJson } from './canonical-json.ts'
import type { EncryptionKey } from './encryption-key.ts'
import { UnreadableEnvelopeError } from './errors.ts'

const VERSION = '1'
const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** What an envelope is about: it opens as nothing else, and of no other run. */
export interface Sealed {
  what: 'payload' | 'result' | 'progress'
  job: string
  /** Of the run. */
  id: string
}

/**
 * Encrypts what a run carries, with the first of its keys, and decrypts with whichever an envelope
 * names. Each envelope's key is derived (HKDF) of that key and of what the envelope is about, so that no
 * number of runs wears out the random nonces; what it is about is authenticated too.
 */
export class PayloadCipher {
  readonly #first: EncryptionKey
  readonly #keys: ReadonlyMap<string, EncryptionKey>
  readonly #hashKey: Buffer

  /** At least one key. */
  constructor(keys: readonly EncryptionKey[]) {
    const [first] = keys
    if (!first) throw new TypeError('there must be at least one key')
    this.#first = first
    this.#keys = new Map(keys.map((key) => [key.id, key]))
    // The oldest, as long as ids sort by age: a new key in front of it changes no hash.
    const oldest = keys.toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }))[0]
    this.#hashKey = derived(oldest ?? first, 'hash')
  }

  /** `text` is JSON. */
  seal(text: string, about: Sealed): Envelope {
    const context = contextOf(about)
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, derived(this.#first, context), nonce, {
      authTagLength: TAG_BYTES,
    })
    cipher.setAAD(Buffer.from(context))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    const parts = [
      VERSION,
      this.#first.id,
      nonce.toString('base64url'),
      sealed.toString('base64url'),
    ]
    return { $encrypted: parts.join('.') }
  }

  /** The text of an envelope. Throws `UnreadableEnvelopeError`. */
  open(envelope: Envelope, about: Sealed): string {
    const { what } = about
    const keyId = envelopeKeyId(envelope)
    const key = this.#keys.get(keyId)
    if (!key) throw new UnreadableEnvelopeError({ what, keyId, reason: 'no-key' })
    const context = contextOf(about)
    const [, , nonce = '', sealed = ''] = envelope.$encrypted.split('.')
    const bytes = Buffer.from(sealed, 'base64url')
    try {
      const decipher = createDecipheriv(
        ALGORITHM,
        derived(key, context),
        Buffer.from(nonce, 'base64url'),
        { authTagLength: TAG_BYTES },
      )
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      return (
        decipher.update(bytes.subarray(0, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      )
    } catch (cause) {
      throw new UnreadableEnvelopeError({ what, keyId, reason: 'not-authentic' }, { cause })
    }
  }

  /**
   * Tells whether two payloads of a job are the same, as `payloadHash` does, to nobody but who has the
   * key; 43 characters. It changes when the oldest key goes.
   */
  hash(job: string, payload: unknown): string {
    const text = `${job} ${canonicalJson(payload)}`
    return createHmac('sha256', this.#hashKey).update(text).digest('base64url')
  }
}

function contextOf({ what, job, id }: Sealed): string {
  return JSON.stringify(['jadwal', VERSION, what, job, id.toLowerCase()])
}

function derived({ secret }: EncryptionKey, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', use, KEY_BYTES))
}
