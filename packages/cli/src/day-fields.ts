/**
 * Cron dialects differ in when a day field counts as "every day", and with it in whether both day
 * fields must match or one is enough. In Jadwal a field does that begins with `*` (or is `?`).
 */
export type DayRule = (field: string) => boolean

/** robfig/cron v3, the parser of Kubernetes: any `*` in the list, but none with a step of 2 or more. */
export const robfigStar: DayRule = (field) =>
  field.split(',').some((atom) => /^[*?](\/0*1)?$/.test(atom))

/** cron-parser, which BullMQ uses: `*` or `?` alone. */
export const cronParserStar: DayRule = (field) => field === '*' || field === '?'

/**
 * The expression, with its day fields written so that Jadwal fires on the days that the other dialect
 * does: where a `*` with a step is no "every day", it is spelled out as `1-31` or `0-6`.
 */
export function sameDays(expression: string, isStar: DayRule): string {
  const fields = expression.trim().split(/\s+/)
  const [day = '', month = '', weekday = ''] = fields.slice(-3)
  if (fields.length < 5 || (isStar(day) && isStar(weekday))) return expression
  if (isStar(day) || isStar(weekday)) {
    const written = [isStar(day) ? '*' : day, month, isStar(weekday) ? '*' : weekday]
    return beginsWithStar(isStar(day) ? day : weekday) ? expression : join(fields, written)
  }
  if (!beginsWithStar(day) && !beginsWithStar(weekday)) return expression
  return join(fields, [spelledOut(day, '1-31'), month, spelledOut(weekday, '0-6')])
}

/** Other dialects take `?` for `*` everywhere, Jadwal as a whole day field only. */
export function starsForQuestionMarks(expression: string): string {
  const fields = expression.trim().split(/\s+/)
  const days = new Set([fields.length - 3, fields.length - 1])
  return fields
    .map((field, index) => (field === '?' && days.has(index) ? field : field.replaceAll('?', '*')))
    .join(' ')
}

function beginsWithStar(field: string): boolean {
  return /^[*?]/.test(field)
}

function spelledOut(field: string, range: string): string {
  return field
    .split(',')
    .map((atom) => atom.replace(/^[*?]/, range))
    .join(',')
}

function join(fields: readonly string[], days: readonly string[]): string {
  return [...fields.slice(0, -3), ...days].join(' ')
}
