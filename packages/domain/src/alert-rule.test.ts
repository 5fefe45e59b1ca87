import { expect, test } from 'vitest'
import { AlertChannelSpec } from './alert-channel.ts'
import { fits, matchesSubject } from './alert-matchers.ts'
import { AlertRuleSpec } from './alert-rule.ts'
import { AlertSilenceSpec, isSilenced } from './alert-silence.ts'

const problems = (schema: { safeParse: typeof AlertRuleSpec.safeParse }, value: unknown) =>
  schema.safeParse(value).error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`)

test('a rule needs no more than its kind', () => {
  expect(AlertRuleSpec.parse({ kind: 'dead-letter' })).toEqual({
    kind: 'dead-letter',
    parameters: { threshold: 1, window: '1h', groupBy: 'fingerprint' },
    matchers: {},
    for: '0s',
    repeatEvery: '4h',
    enabled: true,
  })
})

test.each([
  [{ kind: 'outbox', parameters: { lag: 5 } }, 'parameters.lag must be a duration from 1s to 30d'],
  [{ kind: 'no-leader', matchers: { queue: 'a' } }, 'matchers.queue is not possible for no-leader'],
  [{ kind: 'failure-rate', parameters: { rate: 0 } }, 'parameters.rate'],
  [{ kind: 'dead-letter', for: '2d' }, 'for must be a duration from 0ms to 1d'],
  [{ kind: 'dead-letter', matchers: { job: 'a*b' } }, 'matchers.job'],
])('%j is refused: %s', (value, words) => {
  expect(problems(AlertRuleSpec, value)).toEqual([expect.stringContaining(words)])
})

test('matchers fit names, beginnings of names, and all labels', () => {
  expect(fits('billing.*', 'billing.send')).toBe(true)
  expect(fits(['a', 'b'], 'b')).toBe(true)
  expect(fits('a', 'ab')).toBe(false)
  expect(fits('a')).toBe(false)
  const labels = { team: 'billing' }
  expect(matchesSubject({ labels }, { labels: { team: 'billing', from: 'demo' } })).toBe(true)
  expect(matchesSubject({ labels }, { queue: 'emails' })).toBe(false)
  expect(matchesSubject({}, {})).toBe(true)
})

test('a silence has an end, and holds between its instants for what it matches', () => {
  const from = '2026-01-01T00:00:00Z'
  expect(AlertSilenceSpec.safeParse({ from }).error?.issues[0]?.message).toContain('has an end')
  expect(AlertSilenceSpec.safeParse({ from, until: from }).success).toBe(false)
  const silence = AlertSilenceSpec.parse({
    matchers: { rule: 'outbox', queue: 'emails' },
    from,
    until: '2026-01-02T00:00:00Z',
  })
  const about = { rule: 'outbox', subject: { queue: 'emails' } }
  const at = (iso: string) => isSilenced(silence, about, Date.parse(iso))
  expect([at(from), at('2026-01-01T23:59:59Z'), at('2026-01-02T00:00:00Z')]).toEqual([
    true,
    true,
    false,
  ])
  expect(isSilenced(silence, { ...about, rule: 'other' }, Date.parse(from))).toBe(false)
})

const isAddress = (url: unknown) => AlertChannelSpec.safeParse({ kind: 'slack', url }).success

test('the address of a channel is a secret or a plain one', () => {
  expect(isAddress('https://hooks.example.com/x')).toBe(true)
  expect(isAddress({ secret: 'SLACK_URL' })).toBe(true)
  expect(isAddress('https://me:pass@example.com/')).toBe(false)
  expect(isAddress('ftp://example.com/')).toBe(false)
})
