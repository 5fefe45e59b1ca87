import { MAX_PAYLOAD_BYTES, PAYLOAD_LIMITS, redisUrlProblem } from '@jadwal/queue'
import { z } from 'zod'
import type { ApiAccess } from './history-api.ts'
import { describeIssues } from './issues.ts'

export interface ClientOptions {
  redisUrl: string
  /** `JADWAL_PREFIX` of the workers; `jadwal` when left out. */
  prefix?: string
  /** The largest payload, in bytes as JSON: 512 KiB when left out, 16 MiB at most. */
  maxPayloadBytes?: number
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

/** The options of a client with their defaults. Throws `ClientOptionsError`. */
export function checkClientOptions(
  options: ClientOptions,
): ClientOptions & Required<Pick<ClientOptions, 'prefix' | 'maxPayloadBytes' | 'onError'>> {
  const parsed = Options.safeParse(options)
  if (!parsed.success)
    throw new ClientOptionsError(
      `createClient: ${describeIssues(parsed.error.issues, { ...options, redisUrl: undefined })}`,
    )
  const { prefix = 'jadwal', onError = ignore } = options
  return { ...options, prefix, onError, maxPayloadBytes: parsed.data.maxPayloadBytes }
}

function ignore(): void {}
