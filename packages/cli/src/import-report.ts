/** Where something stands: a file and its line, from 1, or a key of Redis. */
export interface Place {
  source: string
  line?: number
}

/** Something that was not taken over. */
export interface Refusal extends Place {
  text: string
  why: string
}

/** Something to know or to do about one place. */
export interface Remark extends Place {
  remark: string
}

/** What became of all that was read. */
export interface ImportReport {
  /** What was read: a file's name or an address. */
  title: string
  /** What the refusals are counted as. */
  noun: string
  refused: readonly Refusal[]
  /** What somebody has to do before the schedules can run. */
  toDo: readonly Remark[]
  taken: readonly (Place & { schedule: string })[]
  /** What differs from before. */
  notes: readonly (string | Remark)[]
}

/** The report as text, or as JSON for a program. */
export function writeReport(report: ImportReport, json: boolean): string {
  return json ? `${JSON.stringify(jsonReport(report), null, 2)}\n` : textReport(report)
}

function textReport({ title, noun, refused, toDo, taken, notes }: ImportReport): string {
  const sections = [
    `${oneLine(title)}: ${count(taken.length, 'schedule')} taken over, ${count(refused.length, noun)} not.\n`,
    section(
      'Not taken over',
      refused.map(({ text, why, ...place }) => [`${at(place)}: ${shortened(text)}`, why]),
    ),
    section(
      'To do',
      toDo.map((remark) => [said(remark)]),
    ),
    section(
      'Taken over',
      taken.map((place) => [`${at(place)}: ${place.schedule}`]),
    ),
    section(
      'What to know',
      notes.map((note) => [said(note)]),
    ),
  ]
  return sections.filter((text) => text !== '').join('\n')
}

function jsonReport({ title, refused, toDo, taken, notes }: ImportReport): unknown {
  return {
    source: title,
    notTakenOver: refused,
    toDo,
    takenOver: taken,
    notes: notes.map((note) => (typeof note === 'string' ? { remark: note } : note)),
  }
}

function said(note: string | Remark): string {
  return typeof note === 'string' ? note : `${at(note)}: ${note.remark}`
}

function at({ source, line }: Place): string {
  return line === undefined ? source : `${source}:${line}`
}

/** Each item is a line, and what belongs to it below. */
function section(title: string, items: readonly (readonly string[])[]): string {
  const lines = items.flatMap(([first = '', ...below]) => [
    `  ${oneLine(first)}\n`,
    ...below.map((line) => `    ${oneLine(line)}\n`),
  ])
  return lines.length === 0 ? '' : `${title}:\n${lines.join('')}`
}

const MOST_TEXT = 200

function shortened(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT - 1)}…` : text
}

/** A terminal must not be steered by what a file holds. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim()
}

function count(number: number, noun: string): string {
  const nouns = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
  return `${number} ${number === 1 ? noun : nouns}`
}
