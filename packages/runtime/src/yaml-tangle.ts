/** Deeper than anything that people write. */
const DEEPEST = 200
const MOST_ANCHORS = 2_000

/**
 * What of a text would keep the YAML library busy for longer than the text is worth: it reads what lies
 * deep in each other, and many anchors, in quadratic time. Undefined for what people write. Brackets in
 * quotes count too, which matters only where hundreds of them are never closed.
 */
export function yamlTangle(text: string): string | undefined {
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = Math.max(0, depth + (bracket === '[' || bracket === '{' ? 1 : -1))
    if (depth > DEEPEST) return `more than ${DEEPEST} brackets are open at once`
  }
  if (new RegExp(`^[ \\t]*(?:[-?:][ \\t]+){${DEEPEST}}`, 'm').test(text))
    return `a line begins with more than ${DEEPEST} marks of lists or keys`
  const anchors = text.match(/(?<![^\s,[{])&[^\s,\]}]/g)?.length ?? 0
  if (anchors > MOST_ANCHORS)
    return `it has ${anchors} anchors, at most ${MOST_ANCHORS} are allowed`
  return undefined
}
