import { Agent, request } from 'node:http'
import { publishCatalogue } from '@jadwal/queue'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi, TOKEN, type TestApi } from './setup-api.ts'

/** Asks of each operation: few, so that a busy machine is through with all of them in well under a minute. */
const ASKS = Number(process.env['FUZZ_ASKS'] ?? 3)
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_130)
/** A request that takes longer hangs. */
const WITHIN_MS = 15_000
/** What goes on by itself, or would wait for others who are not there. */
const SKIPPED = /^GET \/events|step-down/

interface Operation {
  method: string
  path: string
  parameters: { name: string; in: string }[]
  body: unknown
}

let api: TestApi
let operations: Operation[]
const agent = new Agent({ keepAlive: true })

beforeAll(async () => {
  api = await setupApi()
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
  const { body } = await api.ask('/api/v1/openapi.json')
  operations = Object.entries<Record<string, never>>(body.paths).flatMap(([path, methods]) =>
    Object.entries<Record<string, never>>(methods).map(([method, said]) => ({
      method: method.toUpperCase(),
      path,
      parameters: said['parameters'] ?? [],
      body: Object.values<{ example?: unknown }>(said['requestBody']?.['content'] ?? {})[0]
        ?.example,
    })),
  )
})
afterAll(async () => {
  agent.destroy()
  await api[Symbol.asyncDispose]()
})

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    'a\u0000b',
    '\ud800',
    '../..',
    '%00',
    "' OR 1=1 --",
    '9'.repeat(400),
    'x'.repeat(5_000),
    '-1',
    'true',
    '2026-02-30T00:00:00Z',
    '0199f3a2-7c3a-7c5d-8f10-3b6f3c1d2e4f',
  ),
)
const deep: unknown = JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`)
const value = fc.oneof(
  fc.jsonValue(),
  text,
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom<unknown>(null, [], {}, 1e308, -0, deep, JSON.parse('{"__proto__":{"a":1}}')),
)

/** A body: bytes that are no JSON, any JSON, or the example with some members put wrong. */
function bodyLike(example: unknown): fc.Arbitrary<string> {
  const any = fc.oneof(
    value.map((each) => JSON.stringify(each)),
    fc.constantFrom('', '{', '{"a":', '\u0000', '[1,', 'NaN'),
  )
  if (example === null || typeof example !== 'object') return any
  const members = fc.constantFrom(...Object.keys(example), 'unknown', '__proto__')
  const changed = fc
    .array(fc.tuple(members, value), { maxLength: 3 })
    .map((changes) => JSON.stringify(Object.fromEntries([...Object.entries(example), ...changes])))
  return fc.oneof({ weight: 3, arbitrary: changed }, { weight: 1, arbitrary: any })
}

interface Ask {
  url: string
  headers: Record<string, string>
  body: string | undefined
}

function askOf({ method, path, parameters, body }: Operation): fc.Arbitrary<Ask> {
  const inQuery = parameters.filter((each) => each.in === 'query').map(({ name }) => name)
  const names = inQuery.length === 0 ? text : fc.oneof(fc.constantFrom(...inQuery), text)
  return fc
    .record({
      params: fc.array(text, { minLength: 3, maxLength: 3 }),
      query: fc.array(fc.tuple(names, text), { maxLength: 3 }),
      type: fc.constantFrom(
        'application/json',
        'application/json',
        'text/plain',
        'application/yaml',
        'application/x-ndjson',
      ),
      tag: fc.option(fc.constantFrom('*', '"1"', 'W/"x"', '"', 'x'), { nil: undefined }),
      body:
        method === 'GET' ? fc.constant(undefined) : fc.option(bodyLike(body), { nil: undefined }),
    })
    .map(({ params, query, type, tag, body: sent }) => {
      let at = 0
      const place = path.replaceAll(/\{\w+\}/g, () => encoded(params[at++] ?? ''))
      const search = query.map(([name, said]) => `${encoded(name)}=${encoded(said)}`).join('&')
      return {
        url: `/api/v1${place}${search === '' ? '' : `?${search}`}`,
        headers: {
          ...(tag === undefined ? {} : { 'if-match': tag }),
          ...(sent === undefined ? {} : { 'content-type': type }),
        },
        body: sent,
      }
    })
}

function encoded(part: string): string {
  return encodeURIComponent(part.replaceAll(/\p{Surrogate}/gu, '\ufffd'))
}

/** Rejects when there is no answer in time. */
function send(method: string, { url, headers, body }: Ask) {
  return new Promise<{ status: number; type: string; text: string }>((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const all = { authorization: `Bearer ${TOKEN}`, ...headers, ...length }
    const options = { method, headers: all, agent, signal: AbortSignal.timeout(WITHIN_MS) }
    const req = request(api.url + url, options, (res) => {
      const pieces: Buffer[] = []
      res.on('data', (piece: Buffer) => pieces.push(piece))
      res.on('error', reject)
      res.on('end', () => {
        const { statusCode = 0, headers: said } = res
        const answer = Buffer.concat(pieces).toString()
        resolve({ status: statusCode, type: said['content-type'] ?? '', text: answer })
      })
    })
    req.on('error', reject)
    req.end(body)
  })
}

test('whatever is asked is answered, wrong things with a problem document', async () => {
  process.stdout.write(`fuzz: FUZZ_SEED=${SEED}, FUZZ_ASKS=${ASKS}\n`)
  for (const operation of operations) {
    const name = `${operation.method} ${operation.path}`
    if (SKIPPED.test(name)) continue
    await fc.assert(
      fc.asyncProperty(askOf(operation), async (ask) => {
        const answer = await send(operation.method, ask)
        const said = `${operation.method} ${ask.url.slice(0, 300)}: ${answer.status} ${answer.text.slice(0, 500)}`
        expect(answer.status < 500 || [503, 504].includes(answer.status), said).toBe(true)
        if (answer.status < 400 || answer.status === 431) return
        expect(answer.type, said).toContain('application/problem+json')
        expect(JSON.parse(answer.text), said).toMatchObject({
          type: expect.stringMatching(/^urn:jadwal:problem:[a-z-]+$/),
          status: answer.status,
          detail: expect.any(String),
        })
      }),
      { seed: SEED, numRuns: ASKS, endOnFailure: true },
    )
  }
  expect((await api.ask('/readyz')).status).toBe(200)
}, 120_000)
