import { nameSlug, type UniqueNames } from './unique-names.ts'

/** Words that lead up to what a command line is about. */
const LEAD =
  /^(?:cd|test|\[|\[\[|sleep|export|set|\.|source|command|umask|ulimit|perl|echo|true|exit)$/
/** Programs that run the program behind them. */
const WRAPPER = /^(?:sudo|nice|ionice|nohup|env|time|exec|chronic|setsid|stdbuf)$/
const MOST_WORDS = 3

/**
 * A readable name for the schedule of a command line: its program and first words. `cd /srv && php
 * artisan schedule:run >> log` is `php-artisan-schedule-run`.
 */
export function scheduleName(command: string, names: UniqueNames): string {
  const steps = command.split(/&&|\|\||;/).map(wordsOf)
  const known = steps.filter(([program]) => program !== undefined)
  const step = known.findLast(([program = '']) => !LEAD.test(program)) ?? known.at(-1) ?? []
  const slug = step.slice(0, step[0] === 'php' ? MOST_WORDS + 1 : MOST_WORDS).join('-')
  return names.free(slug, 'command')
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
