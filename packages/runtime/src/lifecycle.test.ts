import { expect, test } from 'vitest'
import { createLogger, Lifecycle } from './index.ts'

function setup() {
  const closed: string[] = []
  const lifecycle = new Lifecycle(createLogger('test', 'silent'))
  const open = (name: string, fail = false): void =>
    lifecycle.onClose(name, async () => {
      await Promise.resolve()
      closed.push(name)
      if (fail) throw new Error('stuck')
    })
  return { closed, lifecycle, open }
}

test('what was opened last is closed first', async () => {
  const { closed, lifecycle, open } = setup()
  for (const name of ['redis', 'queue', 'server']) open(name)
  await lifecycle.close()
  expect(closed).toEqual(['server', 'queue', 'redis'])
})

test('a closing that fails does not keep the others from closing', async () => {
  const { closed, lifecycle, open } = setup()
  open('redis')
  open('queue', true)
  await lifecycle.close()
  expect(closed).toEqual(['queue', 'redis'])
})

test('closing twice closes once', async () => {
  const { closed, lifecycle, open } = setup()
  open('redis')
  await Promise.all([lifecycle.close(), lifecycle.close()])
  await lifecycle[Symbol.asyncDispose]()
  expect(closed).toEqual(['redis'])
})

test('a part that a closing opens is closed too', async () => {
  const { closed, lifecycle, open } = setup()
  lifecycle.onClose('server', () => open('late'))
  await lifecycle.close()
  expect(closed).toEqual(['late'])
})
