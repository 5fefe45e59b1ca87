import {
  cipherOf,
  encryptionKeysEnv,
  MAX_PAYLOAD_BYTES,
  PAYLOAD_LIMITS,
  type PayloadCipher,
  redisUrlProblem,
} from '@jadwal/queue'
import { z } from 'zod'
import type { ApiAccess } from './history-api.ts'
import { describeIssues } from './issues.ts'

export interface ClientOptions {
  redisUrl: string
  /** `JADWAL_PREFIX` of the workers; `jadwal` when left out. */
  prefix?: string
  /** The largest payload, in bytes as JSON: 512 KiB when left out, 16 MiB at most. */
  maxPayloadBytes?: number
  /**
   * `JADWAL_ENCRYPTION_KEYS` of the workers, such as `k2:<base64>,k1:<base64>`: encrypts the payloads of
   * jobs that ask for it, and decrypts their results. Not read from the environment.
   */
  encryptionKeys?: string
  /** Where runs are asked for that Redis knows no more: they are in the history. */
  api?: ApiAccess
  /** Hears each connection error. Without it they show only in the calls that they fail. */
  onError?: (error: Error) => void
}

/** A client was opened wrongly. The message names every field, its value and what is right. */
export class ClientOptionsError extends Error {
  override name = 'ClientOptionsError'
  readonly code = 'CLIENT_OPTIONS'
}

const Options = z.strictObject({
  redisUrl: z.string().superRefine((url, ctx) => {
    const problem = redisUrlProblem(url)
    if (problem !== undefined) ctx.addIssue({ code: 'custom', message: problem })
  }),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must match [A-Za-z0-9_.-]{1,64}')
    .optional(),
  maxPayloadBytes: z
    .int()
    .min(PAYLOAD_LIMITS.min)
    .max(PAYLOAD_LIMITS.max)
    .default(MAX_PAYLOAD_BYTES),
  encryptionKeys: encryptionKeysEnv,
  api: z
    .strictObject({
      url: z.url({
        protocol: /^https?$/,
        error: 'must be the address of the api, such as http://127.0.0.1:3000',
      }),
      token: z.string().min(1).optional(),
    })
    .optional(),
  onError: z
    .custom((value) => typeof value === 'function', 'must be a function of an error')
    .optional(),
})

type CheckedOptions = Omit<ClientOptions, 'encryptionKeys'> &
  Required<Pick<ClientOptions, 'prefix' | 'maxPayloadBytes' | 'onError'>> & {
    cipher: PayloadCipher | undefined
  }

/** The options of a client with their defaults. Throws `ClientOptionsError`. */
export function checkClientOptions({ encryptionKeys, ...options }: ClientOptions): CheckedOptions {
  const parsed = Options.safeParse({ ...options, encryptionKeys })
  if (!parsed.success)
    throw new ClientOptionsError(
      `createClient: ${describeIssues(parsed.error.issues, { ...options, redisUrl: undefined })}`,
    )
  const { prefix = 'jadwal', onError = ignore } = options
  const cipher = cipherOf(parsed.data.encryptionKeys)
  return { ...options, prefix, onError, cipher, maxPayloadBytes: parsed.data.maxPayloadBytes }
}

function ignore(): void {}
