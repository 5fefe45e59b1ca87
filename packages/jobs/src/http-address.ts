import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/**
 * Which addresses `http.request` may not reach: link-local ones, where clouds keep the credentials of
 * their machines. Checked on what a name resolved to, at the moment of connecting, so that a name
 * that changes its address between a check and the connection gets nowhere.
 */
const FORBIDDEN = new BlockList()
FORBIDDEN.addSubnet('169.254.0.0', 16, 'ipv4')
FORBIDDEN.addSubnet('fe80::', 10, 'ipv6')
FORBIDDEN.addAddress('fd00:ec2::254', 'ipv6')
// The same IPv4 addresses written as IPv6: mapped, compatible, translated (NAT64) and tunnelled (6to4).
FORBIDDEN.addSubnet('::ffff:169.254.0.0', 112, 'ipv6')
FORBIDDEN.addSubnet('::ffff:0:169.254.0.0', 112, 'ipv6')
FORBIDDEN.addSubnet('::169.254.0.0', 112, 'ipv6')
FORBIDDEN.addSubnet('64:ff9b::169.254.0.0', 112, 'ipv6')
FORBIDDEN.addSubnet('2002:a9fe::', 32, 'ipv6')

export class ForbiddenAddressError extends Error {
  override name = 'ForbiddenAddressError'
  readonly code = 'FORBIDDEN_ADDRESS'

  constructor(host: string, address: string) {
    const which = host === address ? address : `${host} (${address})`
    super(`${which} is a link-local address, which may hold a machine's credentials: refused`)
  }
}

/** Throws when an address is forbidden. A zone (`fe80::1%eth0`) is left out of account. */
function checkAddress(host: string, address: string): void {
  const [bare = ''] = address.split('%')
  const version = isIP(bare)
  if (version !== 0 && FORBIDDEN.check(bare, version === 6 ? 'ipv6' : 'ipv4'))
    throw new ForbiddenAddressError(host, address)
}

/** Throws when the host of a URL is itself a forbidden address. Connecting to one asks no `lookup`. */
export function checkHost(url: URL): void {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  checkAddress(host, host)
}

type LookupAll = (
  hostname: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

export const systemLookup: LookupAll = (hostname, callback) =>
  dnsLookup(hostname, { all: true, verbatim: true }, callback)

/** A `lookup` for sockets that fails when any address of the name is forbidden. */
export function guardedLookup(lookupAll: LookupAll): LookupFunction {
  return (hostname, options, callback) =>
    lookupAll(hostname, (error, addresses) => {
      const wanted = addresses?.filter(({ family }) => fits(family, options.family)) ?? []
      const failure = error ?? forbidden(hostname, addresses) ?? missing(hostname, wanted)
      const [first] = wanted
      if (failure || !first) callback(failure ?? null, '', 0)
      else if (options.all) callback(null, wanted)
      else callback(null, first.address, first.family)
    })
}

function fits(family: number, wanted: number | string | undefined): boolean {
  return wanted === undefined || wanted === 0 || wanted === family || wanted === `IPv${family}`
}

function forbidden(hostname: string, addresses: readonly LookupAddress[]): Error | undefined {
  try {
    for (const { address } of addresses) checkAddress(hostname, address)
    return undefined
  } catch (error) {
    return error instanceof Error ? error : undefined
  }
}

function missing(hostname: string, addresses: readonly LookupAddress[]): Error | undefined {
  if (addresses.length > 0) return undefined
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' })
}
