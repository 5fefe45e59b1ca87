import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, onFreePort } from '../src/free-port.ts'

test('a port that is taken is passed over for the next free one', async () => {
  const server = createServer()
  onTestFinished(() => void server.close())
  const taken = await onFreePort(0, async (port) => {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    return port
  })
  expect(await freePort(taken)).toBeGreaterThan(taken)
})

test('any free port is one that no outgoing connection is given', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()))
  // The lowest that Linux gives; other systems begin higher.
  expect(Math.max(...ports)).toBeLessThan(32_768)
})

test('whoever is faster takes the port: the start is tried on another one', async () => {
  const ports: number[] = []
  const started = await onFreePort(0, async (port) => {
    ports.push(port)
    if (ports.length < 3) throw new Error('bind: Address already in use')
    return port
  })
  expect(started).toBe(ports[2])
})

test('any other failure of a start is passed on', async () => {
  await expect(onFreePort(0, () => Promise.reject(new Error('no memory')))).rejects.toThrow(
    'no memory',
  )
})
