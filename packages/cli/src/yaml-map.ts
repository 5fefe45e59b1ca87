import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
} from 'yaml'

/** Where nodes come from. */
export interface YamlOrigin {
  document: Document
  lines: LineCounter
}

/** A field that is not what it must be. */
export class WrongFieldError extends Error {
  override name = 'WrongFieldError'
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** A field that nobody asked for. */
export interface UnreadField {
  line: number
  path: string
  value: unknown
}

/** As many aliases as an honest document has in one part; more are there to fill the memory. */
const MOST_ALIASES = 100

/**
 * A map of a YAML document. It knows the line of each field, checks its type, and remembers which fields
 * were read, so that the others can be told and none gets lost.
 */
export class YamlMap {
  readonly line: number
  readonly path: string
  readonly #values: Record<string, unknown>
  readonly #pairs = new Map<string, { key: unknown; value: unknown }>()
  readonly #origin: YamlOrigin
  readonly #read = new Set<string>()
  readonly #children = new Map<string, YamlMap>()

  private constructor(
    values: object,
    at: { node: unknown; line: number; path: string },
    origin: YamlOrigin,
  ) {
    this.#values = values as Record<string, unknown>
    this.#origin = origin
    const node = resolved(at.node, origin)
    for (const pair of isMap(node) ? node.items : []) {
      if (!isScalar(pair.key)) continue
      const key = String(pair.key.value)
      if (this.#pairs.has(key))
        throw new WrongFieldError(
          lineOf(pair.key, origin) ?? at.line,
          `"${key}" stands there twice`,
        )
      this.#pairs.set(key, pair)
    }
    this.line = lineOf(at.node, origin) ?? at.line
    this.path = at.path
  }

  /** Throws WrongFieldError when the node is no map, and when its aliases multiply. */
  static of(node: unknown, origin: YamlOrigin): YamlMap {
    const line = lineOf(node, origin) ?? 1
    const values: unknown = plain(node, origin, line)
    if (!isRecord(values)) throw new WrongFieldError(line, 'it is no map of keys to values')
    return new YamlMap(values, { node, line, path: '' }, origin)
  }

  /** The line of a field; that of the map when it comes from elsewhere. */
  lineOf(key: string): number {
    return lineOf(this.#pairs.get(key)?.key, this.#origin) ?? this.line
  }

  pathOf(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`
  }

  /** Counts fields as read that need no report. */
  ignore(...keys: string[]): void {
    for (const key of keys) this.#read.add(key)
  }

  text(key: string): string | undefined {
    const value = this.#take(key)
    if (value === undefined || typeof value === 'string') return value
    throw this.wrong(key, 'must be a text')
  }

  /** A text that may be written as a number or a truth value. */
  loose(key: string): string | undefined {
    const value = this.#take(key)
    if (value === undefined || typeof value === 'string') return value
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    throw this.wrong(key, 'must be a text')
  }

  /** A whole number from 0. */
  count(key: string): number | undefined {
    const value = this.#take(key)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    throw this.wrong(key, 'must be a whole number, 0 or more')
  }

  flag(key: string): boolean | undefined {
    const value = this.#take(key)
    if (value === undefined || typeof value === 'boolean') return value
    // Kubernetes reads YAML 1.1, where these words are truth values.
    const word = typeof value === 'string' ? value.toLowerCase() : ''
    if (word === 'yes' || word === 'on') return true
    if (word === 'no' || word === 'off') return false
    throw this.wrong(key, 'must be true or false')
  }

  texts(key: string): string[] {
    const value = this.#take(key)
    if (value === undefined) return []
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
    throw this.wrong(key, 'must be a list of texts (numbers and truth values in quotes)')
  }

  map(key: string): YamlMap | undefined {
    const value = this.#take(key)
    if (value === undefined) return undefined
    if (!isRecord(value)) throw this.wrong(key, 'must be a map of keys to values')
    return this.#child(value, { node: this.#pairs.get(key)?.value, path: this.pathOf(key), key })
  }

  maps(key: string): YamlMap[] {
    const value = this.#take(key)
    if (value === undefined) return []
    if (!Array.isArray(value) || !value.every(isRecord))
      throw this.wrong(key, 'must be a list of maps')
    const list = resolved(this.#pairs.get(key)?.value, this.#origin)
    return value.map((item, index) => {
      const node = isSeq(list) ? list.items[index] : undefined
      return this.#child(item, { node, path: `${this.pathOf(key)}[${index}]`, key })
    })
  }

  keys(): string[] {
    return Object.keys(this.#values)
  }

  /** The fields that were not read, here and in the maps below that were. */
  unread(): UnreadField[] {
    const here = Object.entries(this.#values)
      .filter(([key, value]) => !this.#read.has(key) && !isEmpty(value))
      .map(([key, value]) => ({ line: this.lineOf(key), path: this.pathOf(key), value }))
    return [...here, ...[...this.#children.values()].flatMap((child) => child.unread())]
  }

  wrong(key: string, rule: string): WrongFieldError {
    const shown = JSON.stringify(this.#values[key])
    return new WrongFieldError(this.lineOf(key), `${this.pathOf(key)} (${cut(shown)}): ${rule}`)
  }

  missing(key: string, rule: string): WrongFieldError {
    return new WrongFieldError(this.line, `${this.pathOf(key)} is missing; write one ${rule}`)
  }

  #take(key: string): unknown {
    this.#read.add(key)
    return Object.hasOwn(this.#values, key) ? (this.#values[key] ?? undefined) : undefined
  }

  /** The same one each time: it remembers what was read. */
  #child(values: object, at: { node: unknown; path: string; key: string }): YamlMap {
    const known = this.#children.get(at.path)
    if (known) return known
    const child = new YamlMap(values, { ...at, line: this.lineOf(at.key) }, this.#origin)
    this.#children.set(at.path, child)
    return child
  }
}

function plain(node: unknown, { document }: YamlOrigin, line: number): unknown {
  try {
    return isNode(node) ? node.toJS(document, { maxAliasCount: MOST_ALIASES }) : undefined
  } catch (error) {
    if (error instanceof ReferenceError || error instanceof RangeError)
      throw new WrongFieldError(line, `its anchors can't be followed: ${error.message}`)
    throw error
  }
}

function resolved(node: unknown, { document }: YamlOrigin): Node | undefined {
  if (isAlias(node)) return node.resolve(document)
  return isMap(node) || isSeq(node) || isScalar(node) ? node : undefined
}

function lineOf(node: unknown, { lines }: YamlOrigin): number | undefined {
  const range =
    isAlias(node) || isMap(node) || isSeq(node) || isScalar(node) ? node.range : undefined
  return range ? lines.linePos(range[0]).line : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

function cut(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
