import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEAD_EXAMPLE, RUN_EXAMPLE } from '../src/run-schema.ts'
import { EXAMPLE } from '../src/examples.ts'
import { factOf, setupHistory } from './setup-history.ts'
import type { Answer } from './setup-api.ts'
import { EMAIL } from './setup-schedules.ts'

/** What goes on by itself, and what changes who leads or may come in. */
const NOT_ASKED = /^(GET \/events|POST \/leader\/step-down)/
/** Operations on the schedule, calendar and runs that are set up here: their examples must do. */
const MUST_DO =
  /^(GET|PUT) \/(runs|schedules|calendars|jobs|queues|workers|dead-letters|redrives|backfills|pause|openapi|leader\/terms)(\/\{name\}[a-z/]*|\/\{id\}|\/groups|\/load|\.json)?$/
const NOT_THERE = /\/(redrives|backfills)\/\{id\}/

interface Media {
  schema: object
  example?: unknown
}
interface Said {
  parameters?: { name: string; in: string; schema: { examples?: string[] } }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}

let history: Awaited<ReturnType<typeof setupHistory>>
let document: { paths: Record<string, Record<string, Said>>; components: object }
const ajv = new Ajv2020({ strict: false, validateFormats: false })

beforeAll(async () => {
  history = await setupHistory()
  const { api, record } = history
  await record(factOf('succeeded', { id: RUN_EXAMPLE.id, payload: RUN_EXAMPLE.payload }))
  await record(factOf('dead', { id: DEAD_EXAMPLE.id, reason: 'permanent' }))
  await put(`/schedules/${EXAMPLE.schedule}`, EMAIL)
  await put(`/calendars/${EXAMPLE.calendar}`, { dates: ['12-25'] })
  document = (await api.ask('/api/v1/openapi.json')).body
  ajv.addSchema({ components: document.components }, 'openapi')
})
afterAll(async () => history[Symbol.asyncDispose]())

function put(path: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  return history.api.ask(`/api/v1${path}`, { method: 'PUT', headers, body: JSON.stringify(body) })
}

/** What is wrong with a body, by its schema. */
function problemsOf(schema: object, body: unknown): string[] {
  const local = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/')
  const check = ajv.compile(JSON.parse(local) as object)
  return check(body)
    ? []
    : (check.errors ?? []).map((each) => `${each.instancePath} ${each.message}`)
}

function operations() {
  return Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, said]) => ({
        method: method.toUpperCase(),
        path,
        said,
      })),
    )
    .toSorted((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method))
}
const ORDER = ['GET', 'PUT', 'POST', 'DELETE']

test('every example is answered as the document says, with a body that fits', async () => {
  for (const { method, path, said } of operations()) {
    const name = `${method} ${path}`
    if (NOT_ASKED.test(name)) continue
    const place = path.replaceAll(/\{(\w+)\}/g, (_, param: string) => {
      const { schema } = said.parameters?.find((each) => each.name === param) ?? {}
      return encodeURIComponent(schema?.examples?.[0] ?? EXAMPLE.run)
    })
    const [type, sent] = Object.entries(said.requestBody?.content ?? {})[0] ?? []
    // @NOTE one connection each: a kept one may be closed by the server just as it is used again.
    const close = { connection: 'close' }
    const answer = await history.api.ask(`/api/v1${place}`, {
      method,
      ...(type === undefined
        ? { headers: close }
        : { headers: { ...close, 'content-type': type }, body: JSON.stringify(sent?.example) }),
    })
    const told = `${name}: ${answer.status} ${answer.text.slice(0, 600)}`
    const mustDo = MUST_DO.test(name) && !NOT_THERE.test(name)
    expect(Object.keys(said.responses), told).toContain(String(answer.status))
    expect(answer.status, told).toBeLessThan(mustDo ? 300 : 500)
    const [media] = Object.values(said.responses[String(answer.status)]?.content ?? {})
    const problems = media && answer.body !== undefined ? problemsOf(media.schema, answer.body) : []
    expect(problems, told).toEqual([])
  }
}, 60_000)

test('every example of the document fits its own schema', () => {
  const examples = operations().flatMap(({ method, path, said }) =>
    [...Object.values(said.responses), said.requestBody].flatMap((each) => {
      const media = each?.content?.['application/json']
      return media ? [{ name: `${method} ${path}`, ...media }] : []
    }),
  )
  expect(examples.length).toBeGreaterThan(operations().length)
  for (const { name, schema, example } of examples)
    expect(problemsOf(schema, example), name).toEqual([])
})
