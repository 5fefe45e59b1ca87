import { z } from 'zod'

export type JsonSchema = Record<string, unknown>

const COMPONENTS = '#/components/schemas/'
/** Formats that say all that the long patterns of zod say. */
const FORMATS: ReadonlySet<unknown> = new Set(['date-time', 'uuid', 'email', 'uri'])

/**
 * Turns zod schemas into JSON Schema. Those that have an `id` in their `meta` are kept once, by that
 * name, and referred to.
 */
export class JsonSchemas {
  readonly #named = new Map<string, JsonSchema>()

  /** The named ones that were met, by name. */
  get named(): Record<string, JsonSchema> {
    const byName = [...this.#named].toSorted(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(byName)
  }

  /** What is sent: before defaults and transforms. */
  ofInput(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, 'input')
  }

  /** What is answered. Objects have no other members than these. */
  ofOutput(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, 'output')
  }

  #convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const {
      $schema: _draft,
      $defs = {},
      ...own
    } = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        // JSON has no dates: what YAML makes of an instant is written as a text.
        if (zodSchema._zod.def.type === 'date')
          Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
        // `meta` may say that a text of the query is a number.
        if (jsonSchema.type === 'integer') delete jsonSchema.pattern
        if (FORMATS.has(jsonSchema.format)) delete jsonSchema.pattern
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      },
    })
    for (const [name, definition] of Object.entries($defs)) this.#keep(name, placed(definition))
    return placed(own)
  }

  #keep(name: string, definition: JsonSchema): void {
    const known = this.#named.get(name)
    if (known && JSON.stringify(known) !== JSON.stringify(definition))
      throw new Error(`two schemas are called ${name}, or one is both sent and answered`)
    this.#named.set(name, definition)
  }
}

/** With references to where OpenAPI keeps schemas. */
function placed(schema: object): JsonSchema {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/$defs/', `"$ref":"${COMPONENTS}`)
  return JSON.parse(text) as JsonSchema
}
