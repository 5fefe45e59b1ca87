const LONGEST = 100

/** Names the secrets of a worker after keys of Kubernetes' Secrets: one name for one key, always. */
export class SecretNames {
  readonly #names = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** `SEARCH_DB_PASSWORD` for the key `password` of the Secret `db` in `search`. */
  nameOf(namespace: string, secret: string, key: string): string {
    const id = JSON.stringify([namespace, secret, key])
    const known = this.#names.get(id)
    if (known !== undefined) return known
    const words = [namespace, secret, key].filter((word) => word !== '').join('_')
    const base = words
      .toUpperCase()
      .replaceAll(/[^A-Z0-9_]+/g, '_')
      .slice(0, LONGEST)
    let name = base
    for (let number = 2; this.#taken.has(name); number += 1) {
      const end = `_${number}`
      name = `${base.slice(0, LONGEST - end.length)}${end}`
    }
    this.#taken.add(name)
    this.#names.set(id, name)
    return name
  }
}
