import { readFileSync } from 'node:fs'
import { type Cadence, nextTick } from '@jadwal/domain'
import { expect, test } from 'vitest'

const page = readFileSync(new URL('../../../docs/cron.md', import.meta.url), 'utf8')
/** The rows whose last column holds instants. */
const rows = page
  .split('\n')
  .filter((line) => /^\| `.*\d{4}-\d\d-\d\dT[\d:]+ \|$/.test(line))
  .map((line) => line.replaceAll('`', '').slice(2, -2))

test('docs/cron.md has its examples', () => {
  expect(rows.length).toBeGreaterThanOrEqual(15)
})

test.each(rows)('docs/cron.md tells the truth: %s', (row) => {
  const cells = row.split(' | ')
  const [expression = '', timezone = ''] = cells
  const [after = '', fires = ''] = cells.slice(-2)
  const cadence: Cadence = {
    kind: 'cron',
    expression,
    timezone,
    gap: cells.includes('skip') ? 'skip' : 'shift',
    fold: cells.includes('twice') ? 'twice' : 'once',
  }
  const found: string[] = []
  let at = Date.parse(`${after}Z`)
  for (const _ of fires.split(' ')) {
    at = nextTick(cadence, at) ?? Number.NaN
    found.push(new Date(at).toISOString().replace(/(:00)?\.000Z$/, ''))
  }
  expect(found.join(' ')).toBe(fires)
})
