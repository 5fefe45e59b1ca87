import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Program } from './debian-program.ts'

/** What to do when Redis' last words are about a damaged append-only file; undefined for other words. */
export function aofAdvice(lastWords: string, binary: Program, folder: string): string | undefined {
  if (!/(bad file format|unexpected end of file).*append only file/i.test(lastWords)) {
    return undefined
  }
  const manifest = join(folder, 'appendonlydir', 'appendonly.aof.manifest')
  const file = existsSync(manifest) ? manifest : join(folder, 'appendonly.aof')
  return (
    `The append-only file of Redis is damaged: make a copy of ${folder}, then run ` +
    `'${checkerOf(binary)} --fix ${file}', which cuts off everything from the damage on; ` +
    'or move that folder away to begin with an empty queue.'
  )
}

function checkerOf(binary: Program): string {
  const beside = ['redis-check-aof', 'valkey-check-aof']
    .map((name) => join(dirname(binary.file), name))
    .find((file) => existsSync(file))
  const libraries = binary.libraries.length > 0 ? binary.libraries.join(':') : undefined
  return `${libraries ? `LD_LIBRARY_PATH=${libraries} ` : ''}${beside ?? 'redis-check-aof'}`
}
