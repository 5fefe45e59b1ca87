import { z } from 'zod'
import { type Html, html } from './html.ts'
import { PROBLEM_KINDS, problemStatus, problemTitle } from './problem.ts'

/** What the page shows of `openapi.json`. */
const Media = z.looseObject({ schema: z.unknown(), example: z.unknown().optional() })
const Content = z.record(z.string(), Media).optional()
const Said = z.looseObject({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  'x-jadwal-role': z.string(),
  parameters: z
    .array(
      z.looseObject({
        name: z.string(),
        in: z.string(),
        required: z.boolean(),
        description: z.string().optional(),
        schema: z.unknown(),
      }),
    )
    .default([]),
  requestBody: z.looseObject({ required: z.boolean(), content: Content }).optional(),
  responses: z.record(z.string(), z.looseObject({ description: z.string(), content: Content })),
})
const Document = z.looseObject({
  tags: z.array(z.looseObject({ name: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), Said)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
})
type Said = z.infer<typeof Said>

interface Shown {
  method: string
  path: string
  said: Said
}

/** All of `openapi.json` as a page to read: by what it is about, then every schema and problem. */
export function docsPage(openapi: unknown, server: string): Html {
  const { tags, paths, components } = Document.parse(openapi)
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, said]): Shown => ({ method, path, said })),
  )
  const names = Object.keys(components.schemas)
  return html`<header>
      <h1>Jadwal's api</h1>
      <a href="${server}/openapi.json">openapi.json</a> <a href="">Start</a>
    </header>
    <p>
      Send a token as <code>Authorization: Bearer …</code>. Lists are
      <code>{ items, nextCursor }</code>; what is wrong is answered with one of the problems at the
      end. Below, <code>JADWAL_URL</code> is the address of this service.
    </p>
    ${tags.map(({ name }) =>
      group(
        name,
        all.filter(({ said }) => said.tags.includes(name)),
        server,
      ),
    )}
    <h2 id="schemas">Schemas</h2>
    ${names.map(
      (name) =>
        html`<details id="schema-${name}">
          <summary><code>${name}</code></summary>
          ${json(components.schemas[name])}
        </details>`,
    )}
    ${problems()}`
}

function group(name: string, shown: readonly Shown[], server: string): Html {
  return html`<h2 id="${name}">${name}</h2>
    ${shown.map((each) => operation(each, server))}`
}

function operation({ method, path, said }: Shown, server: string): Html {
  const { operationId, summary, description, parameters, requestBody, responses } = said
  const rows = parameters.map(
    ({ name, in: place, required, description: about = '', schema }) =>
      html`<tr>
        <td><code>${name}</code></td>
        <td>${place}${required ? ', required' : ''}</td>
        <td class="wrap">${about} <code>${JSON.stringify(schema)}</code></td>
      </tr>`,
  )
  return html`<details id="${operationId}">
    <summary>
      <code>${method.toUpperCase()} ${path}</code> — ${summary}
      <span class="soft">(${said['x-jadwal-role']})</span>
    </summary>
    ${description.split('\n\n').map((paragraph) => html`<p>${paragraph}</p>`)}
    ${
      rows.length === 0
        ? ''
        : html`<div class="table">
            <table>
              ${rows}
            </table>
          </div>`
    }
    ${
      requestBody
        ? html`<h3>Body</h3>
            ${contents(requestBody.content)}`
        : ''
    }
    <h3>With curl</h3>
    <pre>${curl({ method, path, said }, server)}</pre>
    ${Object.entries(responses)
      .filter(([status]) => Number(status) < 400)
      .map(
        ([status, answer]) =>
          html`<h3>${status}: ${answer.description}</h3>
            ${contents(answer.content)}`,
      )}
    <p class="soft">
      Problems:
      ${Object.entries(responses)
        .filter(([status]) => Number(status) >= 400)
        .map(([status, answer]) => html`${status} ${answer.description.replaceAll('`', '')}; `)}
    </p>
  </details>`
}

function contents(content: z.infer<typeof Content>): readonly Html[] {
  return Object.entries(content ?? {}).map(
    ([type, { schema, example }]) =>
      html`<p class="soft"><code>${type}</code></p>
        ${example === undefined ? '' : json(example)}
        <details>
          <summary class="soft">Schema</summary>
          ${json(schema)}
        </details>`,
  )
}

function json(value: unknown): Html {
  return html`<pre>${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>`
}

/** The request as a command. */
function curl({ method, path, said }: Shown, server: string): string {
  const examples = new Map(said.parameters.map(({ name, schema }) => [name, exampleOf(schema)]))
  const place = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => examples.get(name) ?? `{${name}}`,
  )
  const [type, media] = Object.entries(said.requestBody?.content ?? {})[0] ?? []
  const lines = [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"$JADWAL_URL${server}${place}"`,
    '-H "Authorization: Bearer $JADWAL_TOKEN"',
    ...(type === undefined ? [] : [`-H 'Content-Type: ${type}'`]),
    ...(media ? [`-d '${JSON.stringify(media.example).replaceAll("'", String.raw`'\''`)}'`] : []),
  ]
  return lines.join(' \\\n  ')
}

function exampleOf(schema: unknown): string | undefined {
  const { examples } = z.looseObject({ examples: z.array(z.string()).optional() }).parse(schema)
  return examples?.[0]
}

function problems(): Html {
  return html`<h2 id="problems">Problems</h2>
    <p>
      The <code>type</code> of a problem is <code>urn:jadwal:problem:</code> and one of these names,
      wherever the service is reached.
    </p>
    <div class="table">
      <table>
        ${PROBLEM_KINDS.map(
          (kind) =>
            html`<tr id="problem-${kind}">
              <td><code>${kind}</code></td>
              <td>${problemStatus(kind)}</td>
              <td class="wrap">${problemTitle(kind)}</td>
            </tr>`,
        )}
      </table>
    </div>`
}
