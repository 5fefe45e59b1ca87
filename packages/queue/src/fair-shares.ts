/** How many each may have of `most` together: who wants little gets it all, the others get alike. */
export function fairShares(wanted: readonly number[], most: number): number[] {
  const shares = wanted.map(() => 0)
  const modestFirst = [...wanted.entries()].toSorted(([, a], [, b]) => a - b)
  let left = most
  for (const [place, [at, count]] of modestFirst.entries()) {
    const share = Math.min(count, Math.floor(left / (modestFirst.length - place)))
    shares[at] = share
    left -= share
  }
  return shares
}
