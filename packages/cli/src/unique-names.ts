import { ScheduleName } from '@jadwal/domain'

/** Leaves room for a number within the 100 characters of a name. */
const MOST_CHARS = 90

/** Names that may be given out once each. */
export class UniqueNames {
  readonly #taken: Set<string>
  /** Of names that were asked for: the number to try first, since ten thousand may want the same. */
  readonly #numbers = new Map<string, number>()

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken)
  }

  has(name: string): boolean {
    return this.#taken.has(name)
  }

  take(name: string): void {
    this.#taken.add(name)
  }

  /** A name that is free: the slug, with a number behind it when it is taken or reserved. */
  free(slug: string, otherwise: string): string {
    const base = slug.slice(0, MOST_CHARS).replace(/[-._]+$/, '') || otherwise
    for (let number = this.#numbers.get(base) ?? 1; ; number += 1) {
      const name = number === 1 ? base : `${base}-${number}`
      if (this.#taken.has(name) || !ScheduleName.safeParse(name).success) continue
      this.#numbers.set(base, number)
      return name
    }
  }
}

/** A text as names are written; empty when it holds nothing that a name may hold. */
export function nameSlug(text: string): string {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._]+/g, '-')
    .replaceAll(/^[-._]+|[-._]+$/g, '')
}
