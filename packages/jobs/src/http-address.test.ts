import { expect, test } from 'vitest'
import { checkHost, ForbiddenAddressError, guardedLookup } from './http-address.ts'

test.each([
  'http://169.254.169.254/latest/meta-data',
  'http://169.254.0.1/',
  'http://2852039166/', // 169.254.169.254 as one number
  'http://0xa9.0xfe.0xa9.0xfe/',
  'http://[fe80::1]/',
  'http://[febf:ffff::1]/',
  'http://[fd00:ec2::254]/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:0:169.254.169.254]/',
  'http://[::169.254.169.254]/',
  'http://[64:ff9b::169.254.169.254]/',
  'http://[2002:a9fe:a9fe::1]/',
])('%s is refused', (url) => {
  expect(() => checkHost(new URL(url))).toThrow(ForbiddenAddressError)
})

test.each([
  'http://127.0.0.1/',
  'http://10.0.0.1/',
  'http://192.168.1.1/',
  'http://169.253.255.255/',
  'http://[::1]/',
  'http://[fd00:ec2::255]/',
  'http://[::ffff:10.0.0.1]/',
  'http://example.com/',
])('%s is allowed', (url) => {
  expect(() => checkHost(new URL(url))).not.toThrow()
})

function resolve(addresses: string[], options: { all?: boolean; family?: number }) {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  const lookup = guardedLookup((_host, callback) => callback(null, found))
  return new Promise((done, fail) => {
    lookup('host.test', options, (error, address) => (error ? fail(error) : done(address)))
  })
}

test('a name of which any address is link-local is refused as a whole', async () => {
  await expect(resolve(['127.0.0.1', 'fe80::1%eth0'], { all: true })).rejects.toThrow(
    'host.test (fe80::1%eth0) is a link-local address',
  )
})

test('a lookup gives what the socket asked for: all addresses, the first, or those of a family', async () => {
  const both = ['127.0.0.1', '::1']
  await expect(resolve(both, { all: true })).resolves.toHaveLength(2)
  await expect(resolve(both, {})).resolves.toBe('127.0.0.1')
  await expect(resolve(both, { family: 6 })).resolves.toBe('::1')
})

test('a name without an address of the wanted family is not found', async () => {
  await expect(resolve(['127.0.0.1'], { family: 6 })).rejects.toMatchObject({ code: 'ENOTFOUND' })
})
