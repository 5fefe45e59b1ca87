import { isIP } from 'node:net'
import { z } from 'zod'

const NAMED_NETWORKS: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal'])
const PROXIES_RULE =
  'must be "none", or addresses and networks with commas between them, such as 10.1.0.0/16, of which loopback, linklocal and uniquelocal have names'

/** The peers whose word is taken on where a request comes from; `trust proxy` of Express. */
export const trustedProxiesEnv = z
  .string()
  .refine((text) => text === 'none' || text.split(',').every(isNetwork), PROXIES_RULE)
  .transform((text) => (text === 'none' ? [] : text.split(',').map((part) => part.trim())))
  .default(['loopback', 'linklocal', 'uniquelocal'])

function isNetwork(text: string): boolean {
  const part = text.trim()
  if (NAMED_NETWORKS.has(part)) return true
  const [address = '', bits, rest] = part.split('/')
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
  if (most === 0 || rest !== undefined) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)
}
