import { ScheduleName } from '@jadwal/domain'

/** Words that lead up to what a command line is about. */
const LEAD =
  /^(?:cd|test|\[|\[\[|sleep|export|set|\.|source|command|umask|ulimit|perl|echo|true|exit)$/
/** Programs that run the program behind them. */
const WRAPPER = /^(?:sudo|nice|ionice|nohup|env|time|exec|chronic|setsid|stdbuf)$/
const MOST_WORDS = 3
/** Leaves room for a number within the 100 characters of a name. */
const MOST_CHARS = 90

/**
 * A readable name for the schedule of a command line: its program and first words. `cd /srv && php
 * artisan schedule:run >> log` is `php-artisan-schedule-run`.
 */
export function scheduleName(command: string, taken: ReadonlySet<string>): string {
  const steps = command.split(/&&|\|\||;/).map(wordsOf)
  const known = steps.filter(([program]) => program !== undefined)
  const step = known.findLast(([program = '']) => !LEAD.test(program)) ?? known.at(-1) ?? []
  const slug = step.slice(0, step[0] === 'php' ? MOST_WORDS + 1 : MOST_WORDS).join('-')
  return uniqueName(slug, taken, 'command')
}

/** The telling words of the first program of a pipe. */
function wordsOf(step: string): string[] {
  const [first = ''] = step.replace(/[{}()]/g, ' ').split(/[|<>]|\d>/)
  const words = first.trim().split(/\s+/)
  const start = words.findIndex((word) => !WRAPPER.test(word) && !/^[A-Za-z_]\w*=/.test(word))
  return words
    .slice(Math.max(0, start))
    .filter((word) => !/^-|@|\$/.test(word))
    .map(slugOf)
    .filter((word) => /[a-z]/.test(word))
}

function slugOf(word: string): string {
  return nameSlug(word.replace(/\/+$/, '').split('/').at(-1) ?? '')
}

/** A text as names are written; empty when it holds nothing that a name may hold. */
export function nameSlug(text: string): string {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._]+/g, '-')
    .replaceAll(/^[-._]+|[-._]+$/g, '')
}

/** The slug, with a number behind it when the name is taken or reserved. */
export function uniqueName(slug: string, taken: ReadonlySet<string>, otherwise: string): string {
  const base = slug.slice(0, MOST_CHARS).replace(/[-._]+$/, '') || otherwise
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${number}`
    if (!taken.has(name) && ScheduleName.safeParse(name).success) return name
  }
}
