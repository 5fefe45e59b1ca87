import { REDACTED } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { auditable } from './auditable.ts'

test('passwords in addresses are hidden, also where the text is cut', () => {
  const shown = auditable({ to: 'see redis://me:hunter2@host/0 and a:b@c' }, { jobs: [] })
  expect(shown).toEqual({ to: `see redis://me:${REDACTED}@host/0 and a:b@c` })
  const text = `${'x'.repeat(1_980)} https://me:hunter2-hunter2@host`
  expect(JSON.stringify(auditable({ text }, { jobs: [] }))).not.toContain('hunter')
})

test.each(['a.', 'a+', 'a://', 'a://:', 'a://b:c'])('a long text of %j is no trap', (piece) => {
  const text = piece.repeat(4_000_000)
  const shown = auditable({ text, [text]: 1 }, { jobs: [] }) as { text: string }
  expect(shown.text).toHaveLength(2_001)
})
