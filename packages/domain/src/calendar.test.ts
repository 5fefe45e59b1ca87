import { expect, test } from 'vitest'
import { readCalendars } from './calendar.ts'

test('stored calendars that do not parse are left out', () => {
  const stored = { xmas: { dates: ['12-25'] }, wrong: { dates: ['25.12.'] }, none: null, text: 'x' }
  expect(readCalendars(stored)).toEqual({ xmas: { dates: ['12-25'], spans: [] } })
})

test('what is stored once is parsed once, whatever it is called and whoever names it', () => {
  const xmas = { dates: ['12-25'] }
  const [a, b] = [readCalendars({ xmas }), readCalendars({ holidays: xmas })]
  expect(a['xmas']).toBe(b['holidays'])
})
