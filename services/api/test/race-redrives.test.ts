import { expect, test } from 'vitest'
import type { TestApi } from './setup-api.ts'
import { setupHistory } from './setup-history.ts'

const post = (api: TestApi, path: string, body: object = {}) =>
  api.ask(`/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test('of pauses and resumes of a redrive that race, each is answered with the state that came of it', async () => {
  await using t = await setupHistory()
  const made = await post(t.api, 'dead-letters/redrive', { all: true })
  const path = `redrives/${made.body.id}`
  for (let round = 0; round < 5; round++) {
    const acts = Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? 'pause' : 'resume'))
    const answers = await Promise.all(acts.map((act) => post(t.api, `${path}/${act}`)))
    for (const { status, body } of answers)
      expect([status, body.state]).toEqual([200, expect.stringMatching(/^(running|paused)$/)])
  }
})

test('what is asked of a redrive that has ended is refused, and says how it has ended', async () => {
  await using t = await setupHistory()
  const made = await post(t.api, 'dead-letters/redrive', { all: true })
  const path = `redrives/${made.body.id}`
  await post(t.api, `${path}/cancel`)
  for (const act of ['pause', 'resume']) {
    const late = await post(t.api, `${path}/${act}`)
    expect([late.status, late.body.type]).toEqual([409, 'urn:jadwal:problem:redrive-ended'])
    expect(late.body.detail).toContain('This redrive is cancelled')
  }
})
