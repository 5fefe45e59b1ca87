import { createHmac } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import type { IncomingHttpHeaders } from 'node:http'
import { FakeClock } from '@jadwal/testkit'
import { describe, expect, test } from 'vitest'
import { openAgent } from '../src/http-exchange.ts'
import { httpRequest } from '../src/http-request.ts'
import { attempt, RUN_ID } from './attempt.ts'
import { type Listener, readBody, serve } from './http-server.ts'

function makeJob(addresses: readonly LookupAddress[][] = []) {
  const answers = [...addresses]
  const dispatcher = openAgent((_host, callback) => callback(null, answers.shift() ?? []))
  return httpRequest({ dispatcher, clock: new FakeClock('2026-09-01T10:00:00Z') })
}

const answering =
  (status: number, headers: Record<string, string> = {}): Listener =>
  (_request, response) => {
    response.writeHead(status, headers).end('so it is')
  }

const job = makeJob()
const get = (url: string) => attempt(job, { method: 'GET', url })

describe('the answer decides', () => {
  test('2xx succeeds, and the result has status, headers and body', async () => {
    await using server = await serve(answering(201, { 'content-type': 'text/plain', etag: '"1"' }))
    await expect(get(server.url)).resolves.toMatchObject({
      status: 201,
      headers: { 'content-type': 'text/plain', etag: '"1"' },
      body: 'so it is',
      truncated: false,
    })
  })

  test.each([408, 425, 429, 500, 503, 599])('%d is tried again by the backoff', async (status) => {
    await using server = await serve(answering(status))
    await expect(get(`${server.url}/a?key=1`)).rejects.toMatchObject({
      name: 'HttpStatusError',
      code: `HTTP_${status}`,
      message: `GET ${server.url}/a answered ${status}`,
    })
  })

  test.each([304, 400, 401, 404, 410, 422])('%d is permanent', async (status) => {
    await using server = await serve(answering(status))
    await expect(get(server.url)).rejects.toMatchObject({ name: 'PermanentError' })
  })

  test('Retry-After in seconds sets the wait', async () => {
    await using server = await serve(answering(429, { 'retry-after': '7' }))
    await expect(get(server.url)).rejects.toMatchObject({ name: 'RetryLaterError', delayMs: 7_000 })
  })

  test('Retry-After as a date counts from the server’s own clock', async () => {
    await using server = await serve(
      answering(503, {
        date: 'Thu, 01 Jan 2026 00:00:00 GMT',
        'retry-after': 'Thu, 01 Jan 2026 00:02:00 GMT',
      }),
    )
    await expect(get(server.url)).rejects.toMatchObject({ delayMs: 120_000 })
  })

  test('a server that is not there is tried again', async () => {
    const server = await serve(answering(200))
    await server[Symbol.asyncDispose]()
    await expect(get(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('a connection that breaks in the middle of the body is tried again', async () => {
    await using server = await serve((request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('half')
      setTimeout(() => request.socket.destroy(), 20)
    })
    await expect(get(server.url)).rejects.not.toMatchObject({ name: 'PermanentError' })
  })
})

describe('the request', () => {
  test('a body that is no text goes as JSON, with a signature over time and body', async () => {
    let seen: { headers: IncomingHttpHeaders; body: string } | undefined
    await using server = await serve(async (request, response) => {
      seen = { headers: request.headers, body: await readBody(request) }
      response.end()
    })
    await attempt(job, {
      method: 'POST',
      url: server.url,
      headers: { 'X-Team': 'billing' },
      body: { a: 1 },
      hmac: { secret: 'key' },
    })
    const t = Date.parse('2026-09-01T10:00:00Z') / 1_000
    const v1 = createHmac('sha256', 'key').update(`${t}.{"a":1}`).digest('hex')
    expect(seen?.body).toBe('{"a":1}')
    expect(seen?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-team': 'billing',
      'x-jadwal-signature': `t=${t},v1=${v1}`,
      'idempotency-key': RUN_ID,
    })
  })

  test('a key alone signs too, a text body is sent as it is, and the header can be named', async () => {
    const seen: string[] = []
    await using server = await serve(async (request, response) => {
      seen.push(await readBody(request), Object.keys(request.headers).join(' '))
      response.end()
    })
    const payload = { method: 'PUT', url: server.url, body: 'plain' }
    await attempt(job, { ...payload, hmac: 'key' })
    await attempt(job, { ...payload, hmac: { secret: 'key', header: 'X-Hub' } })
    expect(seen).toEqual([
      'plain',
      expect.stringContaining('x-jadwal-signature'),
      'plain',
      expect.stringContaining('x-hub'),
    ])
  })

  test('a header value that can’t be sent is permanent', async () => {
    const payload = { method: 'GET', url: 'http://127.0.0.1:9/', headers: { a: 'x\r\ny: z' } }
    await expect(attempt(job, payload)).rejects.toMatchObject({ name: 'PermanentError' })
  })

  test('only http and https, and no password in the address, pass the schema', () => {
    const urls = ['http://a.test', 'https://a.test/b?c', 'file:///a', 'http://u:p@a.test', 'a.test']
    const fine = urls.filter((url) => job.payload.safeParse({ method: 'GET', url }).success)
    expect(fine).toEqual(['http://a.test', 'https://a.test/b?c'])
  })
})

describe('large, strange and slow answers', () => {
  test('of an endless body the first 64 KiB are kept and the connection is cut', async () => {
    let cut = false
    await using server = await serve((request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(10_000, 'x')));
      }
      request.socket.on('close', () => (cut = true))
      response.on('drain', more)
      more()
    })
    const answer = (await get(server.url)) as { body: string; truncated: boolean }
    expect(answer.body).toHaveLength(65_536)
    expect(answer.truncated).toBe(true)
    await expect.poll(() => cut, { timeout: 30_000 }).toBe(true)
  })

  test('a binary body is made safe to keep', async () => {
    await using server = await serve((_request, response) => {
      response.end(Buffer.from([0x61, 0x00, 0xff, 0x62]))
    })
    await expect(get(server.url)).resolves.toMatchObject({ body: 'a\uFFFD\uFFFDb' })
  })

  test('an abort ends the request with the reason of the abort', async () => {
    await using server = await serve(() => {})
    const controller = new AbortController()
    const ended = attempt(job, { method: 'GET', url: server.url }, { signal: controller.signal })
    const reason = new Error('stop')
    controller.abort(reason)
    await expect(ended).rejects.toBe(reason)
  })

  test('a server slower than the payload’s timeout is tried again', async () => {
    await using server = await serve(() => {})
    const payload = { method: 'GET', url: server.url, timeoutMs: 50 }
    await expect(attempt(job, payload)).rejects.toMatchObject({
      name: 'TimeoutError',
      timeoutMs: 50,
    })
  })
})

describe('redirects', () => {
  test('GET follows one, and credentials stay with the first origin', async () => {
    const seen: IncomingHttpHeaders[] = []
    await using target = await serve((request, response) => {
      seen.push(request.headers)
      response.end('arrived')
    })
    await using server = await serve((request, response) => {
      if (request.url === '/inside') response.writeHead(302, { location: `${target.url}/x` }).end()
      else response.writeHead(307, { location: '/inside' }).end()
    })
    const answer = await attempt(job, {
      method: 'GET',
      url: server.url,
      headers: { Authorization: 'Bearer key', 'X-Api-Key': 'key', Accept: 'text/plain' },
      hmac: 'key',
    })
    expect(answer).toMatchObject({ status: 200, body: 'arrived' })
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({ accept: 'text/plain' })
    for (const name of ['authorization', 'x-api-key', 'x-jadwal-signature'])
      expect(seen[0]).not.toHaveProperty(name)
  })

  test('a POST that is answered with one is permanent', async () => {
    await using server = await serve(answering(302, { location: '/' }))
    const sent = attempt(job, { method: 'POST', url: server.url })
    await expect(sent).rejects.toMatchObject({
      name: 'PermanentError',
      message: expect.stringMatching(/answered 302/),
    })
  })

  test('the sixth in a row is permanent', async () => {
    let asked = 0
    await using server = await serve((_request, response) => {
      asked++
      response.writeHead(302, { location: '/again' }).end()
    })
    await expect(get(server.url)).rejects.toMatchObject({ name: 'PermanentError' })
    expect(asked).toBe(6)
  })

  test.each(['http://169.254.169.254/latest', 'http://[fe80::1]/', 'file:///etc/passwd'])(
    'one to %s is refused for good',
    async (location) => {
      await using server = await serve(answering(302, { location }))
      await expect(get(server.url)).rejects.toMatchObject({ name: 'PermanentError' })
    },
  )
})

describe('link-local addresses', () => {
  test.each(['http://169.254.169.254/', 'http://[::ffff:169.254.169.254]/'])(
    '%s is refused for good',
    async (url) => {
      await expect(get(url)).rejects.toMatchObject({
        name: 'PermanentError',
        message: expect.stringMatching(/link-local/),
      })
    },
  )

  test('a name that resolves to one is refused for good', async () => {
    const rebound = makeJob([[{ address: '169.254.169.254', family: 4 }]])
    const asked = attempt(rebound, { method: 'GET', url: 'http://innocent.test/' })
    await expect(asked).rejects.toMatchObject({
      name: 'PermanentError',
      message: expect.stringMatching(/innocent.test \(169.254.169.254\)/),
    })
  })

  test('a name that changes to one after the first connection is refused for good', async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(200, { connection: 'close' }).end()
    })
    const rebinding = makeJob([
      [{ address: '127.0.0.1', family: 4 }],
      [{ address: 'fd00:ec2::254', family: 6 }],
    ])
    const payload = { method: 'GET', url: `http://rebinding.test:${server.port}/` }
    await expect(attempt(rebinding, payload)).resolves.toMatchObject({ status: 200 })
    await expect(attempt(rebinding, payload)).rejects.toMatchObject({ name: 'PermanentError' })
  })

  test('a name that is not found is tried again', async () => {
    const asked = attempt(makeJob([[]]), { method: 'GET', url: 'http://nowhere.test/' })
    await expect(asked).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })
})
