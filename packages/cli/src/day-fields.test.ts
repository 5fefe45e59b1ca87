import { expect, test } from 'vitest'
import { cronParserStar, robfigStar, sameDays, starsForQuestionMarks } from './day-fields.ts'

test.each([
  ['0 0 */2 * 1', '0 0 1-31/2 * 1'],
  ['0 0 13 * */3', '0 0 13 * 0-6/3'],
  ['0 0 */2 * */3', '0 0 1-31/2 * 0-6/3'],
  ['0 0 */2 * *', '0 0 */2 * *'],
  ['0 0 */1 * 1', '0 0 */1 * 1'],
  ['0 0 ?/2 * 1', '0 0 1-31/2 * 1'],
  ['0 0 5,* * 1', '0 0 * * 1'],
  ['0 0 *,5 * 1', '0 0 *,5 * 1'],
  ['0 0 13 * 5', '0 0 13 * 5'],
  ['0 0 ? * 5', '0 0 ? * 5'],
  ['@daily', '@daily'],
])('days of robfig: %s is %s', (written, expected) => {
  expect(sameDays(written, robfigStar)).toBe(expected)
})

test.each([
  ['0 0 0 */2 * 1', '0 0 0 1-31/2 * 1'],
  ['0 0 */1 * 1', '0 0 1-31/1 * 1'],
  ['0 0 *,5 * 1', '0 0 1-31,5 * 1'],
  ['0 0 * * 1', '0 0 * * 1'],
  ['0 0 ? * */2', '0 0 ? * */2'],
])('days of cron-parser: %s is %s', (written, expected) => {
  expect(sameDays(written, cronParserStar)).toBe(expected)
})

test.each([
  ['? ? ? * ?', '* * ? * ?'],
  ['0 0 ?/2 ? 1,?', '0 0 */2 * 1,*'],
  ['@daily', '@daily'],
])('question marks: %s is %s', (written, expected) => {
  expect(starsForQuestionMarks(written)).toBe(expected)
})
