import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml'
import { WrongFieldError, YamlMap, type YamlOrigin } from './yaml-map.ts'

export interface K8sObject {
  map: YamlMap
  apiVersion: string
  kind: string
}

export interface K8sObjects {
  objects: K8sObject[]
  /** Documents and items that can't be read as objects. */
  broken: { line: number; text: string; why: string }[]
  /** How many documents are YAML. */
  readable: number
}

/** The objects of a file: one a document, and those in Lists. Throws when it is nested too deeply to be read. */
export function readK8sObjects(text: string): K8sObjects {
  const lines = new LineCounter()
  const texts = text.split(/\r?\n/)
  const found: K8sObjects = { objects: [], broken: [], readable: 0 }
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    merge: true,
    // YamlMap finds keys that stand there twice, and in linear time.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  for (const document of documents) {
    const [error] = document.errors
    const reading = { found, texts, origin: { document, lines } }
    if (error) {
      const { line } = lines.linePos(error.pos[0])
      refuse(reading, line, `it is no YAML: ${error.message}`)
      continue
    }
    found.readable += 1
    if (isEmpty(document.contents)) continue
    readObject(document.contents, reading)
  }
  return found
}

interface Reading {
  found: K8sObjects
  texts: readonly string[]
  origin: YamlOrigin
  /** Of items that leave them out: what their list says. */
  kind?: string
  apiVersion?: string
}

function readObject(node: unknown, reading: Reading): void {
  const { found, origin } = reading
  const items = isMap(node) ? node.get('items', true) : undefined
  const kind = (isMap(node) ? node.get('kind') : undefined) ?? ''
  if (isSeq(items) && typeof kind === 'string' && kind.endsWith('List')) {
    const apiVersion = isMap(node) ? node.get('apiVersion') : ''
    const ofItems = kind === 'List' ? {} : ofList(kind, apiVersion)
    for (const item of items.items) readItem(item, { ...reading, ...ofItems })
    return
  }
  try {
    const map = YamlMap.of(node, origin)
    found.objects.push({
      map,
      kind: map.loose('kind') ?? reading.kind ?? '',
      apiVersion: map.loose('apiVersion') ?? reading.apiVersion ?? '',
    })
  } catch (error) {
    if (!(error instanceof WrongFieldError)) throw error
    refuse(reading, error.line, error.message)
  }
}

function ofList(kind: string, apiVersion: unknown): { kind: string; apiVersion: string } {
  return {
    kind: kind.slice(0, -'List'.length),
    apiVersion: typeof apiVersion === 'string' ? apiVersion : '',
  }
}

/** A list behind an alias is not followed: it may contain itself, or a million others. */
function readItem(item: unknown, reading: Reading): void {
  const { document, lines } = reading.origin
  const node = isAlias(item) ? item.resolve(document) : item
  if (node !== item && isMap(node) && isSeq(node.get('items', true))) {
    const { line } = lines.linePos(isAlias(item) ? (item.range?.[0] ?? 0) : 0)
    refuse(reading, line, 'a list behind an alias is not followed')
  } else readObject(node, reading)
}

function refuse({ found, texts }: Reading, line: number, why: string): void {
  found.broken.push({ line, text: texts[line - 1]?.trim() ?? '', why })
}

function isEmpty(contents: unknown): boolean {
  return contents === null || (isScalar(contents) && (contents.value ?? '') === '')
}
