import { z } from 'zod'
import { SecretRef } from './secret-ref.ts'

/** A secret of a channel: as it is, or the name of a variable `JADWAL_SECRET_<NAME>` of the workers. */
const Secret = z.union([
  SecretRef,
  z.string().min(1, 'must not be empty').max(2_000, 'must have at most 2000 characters'),
])
export type ChannelSecret = z.infer<typeof Secret>

/** The same where it is sent in: `{ "set": true }` keeps what is there. */
const KeptSecret = z.strictObject({ set: z.literal(true) })

const ADDRESS =
  'must be an http or https address without user and password, or { "secret": "NAME" }'
const Address = z.union(
  [
    SecretRef,
    z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .refine((url) => URL.canParse(url) && new URL(url).username + new URL(url).password === ''),
  ],
  ADDRESS,
)

const Recipients = z
  .array(z.email('must be a mail address'))
  .min(1, 'must name somebody')
  .max(50, 'must name at most 50')

function channels<A extends z.ZodType, S extends z.ZodType>(address: A, secret: S) {
  const common = {
    description: z.string().max(500).optional(),
    /** Told of alerts whose rule names no channels. */
    default: z.boolean().default(false),
    enabled: z.boolean().default(true),
  }
  return z.discriminatedUnion('kind', [
    /** A POST of JSON, signed where there is a `hmac`. */
    z.strictObject({
      kind: z.literal('webhook'),
      url: address,
      hmac: secret.optional(),
      ...common,
    }),
    /** An incoming webhook of Slack, Mattermost and others that take the same. */
    z.strictObject({ kind: z.literal('slack'), url: address, ...common }),
    z.strictObject({
      kind: z.literal('email'),
      to: Recipients,
      from: z.email('must be a mail address').optional(),
      ...common,
    }),
  ])
}

/** A channel as it is kept. */
export const AlertChannelSpec = channels(Address, Secret)
export type AlertChannelSpec = z.output<typeof AlertChannelSpec>

/** A channel as it is sent in. */
export const AlertChannelInput = channels(
  z.union([KeptSecret, Address], `${ADDRESS}, or { "set": true } to keep what is there`),
  z.union([KeptSecret, Secret], 'must be a text, { "secret": "NAME" }, or { "set": true }'),
)
export type AlertChannelInput = z.output<typeof AlertChannelInput>

/** A channel with its name. */
export interface AlertChannel {
  name: string
  spec: AlertChannelSpec
}
