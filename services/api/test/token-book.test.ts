import { randomUUID } from 'node:crypto'
import { createToken, openDatabase, revokeToken } from '@jadwal/db'
import { MINUTE, SECOND } from '@jadwal/domain'
import { createLogger, hashToken, newToken } from '@jadwal/runtime'
import { createTestDatabase, FakeClock } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { TokenBook } from '../src/token-book.ts'
import { startTcpProxy } from './tcp-proxy.ts'

const AWAY = { kind: 'tokens-unavailable' }

async function setup() {
  const database = await createTestDatabase(inject('postgresUrl'))
  const proxy = await startTcpProxy(database.url)
  const db = openDatabase({
    url: proxy.wayTo(database.url),
    schema: 'jadwal',
    max: 2,
  })
  onTestFinished(async () => {
    // The proxy first: a pool waits for its connections to be closed by the other side.
    await proxy[Symbol.asyncDispose]()
    await db.destroy()
    await database[Symbol.asyncDispose]()
  })
  const clock = new FakeClock()
  const book = new TokenBook({ db, clock, log: createLogger('api', 'silent') })
  const make = async (lastsMs?: number): Promise<{ id: string; text: string }> => {
    const [id, text, now] = [randomUUID(), newToken(), clock.now()]
    await createToken(database.db, {
      id,
      name: `token-${id}`,
      hash: hashToken(text),
      role: 'viewer',
      created_by: 'ana',
      created_at: now,
      expires_at: lastsMs === undefined ? null : new Date(now.getTime() + lastsMs),
    })
    return { id, text }
  }
  const revoke = (id: string) => revokeToken(database.db, id, { by: 'ana', at: clock.now() })
  return { book, clock, make, revoke, proxy }
}

test('a token that another api has just made is good here', async () => {
  const { book, make } = await setup()
  expect(await book.find(newToken())).toBeUndefined()
  const { id, text } = await make()
  expect(await book.find(text)).toMatchObject({ id, role: 'viewer' })
  expect(await book.findById(id)).toMatchObject({ id })
  expect(await book.find(`${text}x`)).toBeUndefined()
})

test('a token that was revoked elsewhere is good for two seconds at most, and no longer once it is heard of', async () => {
  const { book, clock, make, revoke } = await setup()
  const [first, second] = [await make(), await make()]
  expect(await book.find(first.text)).toBeDefined()
  await revoke(first.id)
  clock.advance(1)
  book.changed()
  expect(await book.find(first.text)).toBeUndefined()

  expect(await book.find(second.text)).toBeDefined()
  await revoke(second.id)
  clock.advance(2 * SECOND)
  expect(await book.find(second.text)).toBeUndefined()
})

test('a token ends at its time, asked of Postgres or not', async () => {
  const { book, clock, make, proxy } = await setup()
  const { text } = await make(MINUTE)
  expect(await book.find(text)).toBeDefined()
  proxy.cut()
  clock.advance(MINUTE - 1)
  expect(await book.find(text)).toBeDefined()
  clock.advance(1)
  expect(await book.find(text)).toBeUndefined()
})

test.each(['cut', 'freeze'] as const)(
  'with Postgres away (%s), known tokens are good for five minutes and of others nobody can tell',
  async (way) => {
    const { book, clock, make, proxy } = await setup()
    const { text } = await make()
    const unknown = await make()
    expect(await book.find(unknown.text)).toBeDefined()
    const another = newToken()
    proxy[way]()
    clock.advance(5 * MINUTE)
    expect(await book.find(text)).toBeDefined()
    await expect(book.find(another)).rejects.toMatchObject(AWAY)
    expect(await book.find('no token of ours')).toBeUndefined()
    clock.advance(1)
    await expect(book.find(text)).rejects.toMatchObject(AWAY)
  },
)

test('however many ask with wrong tokens, they share what is asked of Postgres', async () => {
  const { book } = await setup()
  const asked = Array.from({ length: 500 }, () => book.find(newToken()))
  expect(new Set(await Promise.all(asked))).toEqual(new Set([undefined]))
})
