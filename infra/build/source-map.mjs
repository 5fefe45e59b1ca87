import { decode, encode } from '@jridgewell/sourcemap-codec'

/**
 * A source map without what it says of packages of the registry: nearly all of it. Node reads the whole map
 * when the first error of a process is looked at, and nothing else goes on meanwhile.
 */
export function leaveOutPackages(map) {
  const isOurs = map.sources.map((source) => !source.includes('/node_modules/'))
  const placeOf = isOurs.map((_, at) => isOurs.slice(0, at).filter(Boolean).length)
  let wasOurs = true
  const mappings = decode(map.mappings).map((line) =>
    line.flatMap(([column, source, ...rest]) => {
      if (isOurs[source]) {
        wasOurs = true
        return [[column, placeOf[source], ...rest]]
      }
      // What is not said to begin would count to what was before.
      const begins = wasOurs
      wasOurs = false
      return begins ? [[column]] : []
    }),
  )
  return { ...map, sources: map.sources.filter((_, at) => isOurs[at]), mappings: encode(mappings) }
}
