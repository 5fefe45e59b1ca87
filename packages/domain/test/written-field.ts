import fc from 'fast-check'

/** Part of a field together with what it means, told without any parsing. */
export interface Written {
  text: string
  matches: (value: number) => boolean
}

export interface Span {
  min: number
  max: number
  /** Words for its numbers, beginning with that for `min`. */
  words?: readonly string[]
}

/** A field of numbers: `*`, steps, values, ranges, open steps, and lists of all of them. */
export function field(span: Span): fc.Arbitrary<Written> {
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant(star) },
    { weight: 2, arbitrary: starStep(span) },
    { weight: 4, arbitrary: list(fc.oneof({ weight: 4, arbitrary: atom(span) }, starStep(span))) },
  )
}

export const star: Written = { text: '*', matches: () => true }

/** A value, a range, either with a step: `5`, `5-9`, `5-9/2`, `5/2`. */
export function atom(span: Span): fc.Arbitrary<Written> {
  const value = fc.integer({ min: span.min, max: span.max })
  const step = fc.integer({ min: 1, max: 12 })
  const style = fc.nat(3)
  const range = fc.tuple(value, value, style).map(([a, b, by]) => {
    const [from, to] = [Math.min(a, b), Math.max(a, b)]
    return { text: `${shown(from, span, by)}-${shown(to, span, by)}`, from, to }
  })
  return fc.oneof(
    fc
      .tuple(value, style)
      .map(([only, by]) => ({ text: shown(only, span, by), matches: (v: number) => v === only })),
    range.map(({ text, from, to }) => ({ text, matches: (v: number) => v >= from && v <= to })),
    fc.tuple(range, step).map(([{ text, from, to }, by]) => ({
      text: `${text}/${by}`,
      matches: (v: number) => v >= from && v <= to && (v - from) % by === 0,
    })),
    fc.tuple(value, step).map(([from, by]) => ({
      text: `${from}/${by}`,
      matches: (v: number) => v >= from && (v - from) % by === 0,
    })),
  )
}

export function list(parts: fc.Arbitrary<Written>): fc.Arbitrary<Written> {
  return fc.array(parts, { minLength: 1, maxLength: 3 }).map((some) => ({
    text: some.map(({ text }) => text).join(','),
    matches: (v: number) => some.some(({ matches }) => matches(v)),
  }))
}

function starStep({ min }: Span): fc.Arbitrary<Written> {
  return fc.integer({ min: 1, max: 20 }).map((by) => ({
    text: `*/${by}`,
    matches: (v: number) => (v - min) % by === 0,
  }))
}

/** A number as digits, with a leading zero, or as a word in either case. */
function shown(value: number, { min, words }: Span, style: number): string {
  const word = words?.[value - min]
  if (style === 1 && word !== undefined) return word
  if (style === 2 && word !== undefined) return word.toUpperCase()
  return style === 3 ? `${value}`.padStart(2, '0') : `${value}`
}
