import { Agent, request } from 'node:http'

/** What came of calls that were made at a steady rate. */
export interface Paced {
  /** Ms from when each was due, so that what waits behind a slow one counts, in the order of ends. */
  tookMs: number[]
  /** How many failed, by why. */
  failures: Map<string, number>
  /** From the first that was due to the last that ended. */
  seconds: number
}

/** Makes `count` calls, `perSecond` of them, however long those before take. */
export async function paced(
  { count, perSecond }: { count: number; perSecond: number },
  call: (n: number) => Promise<unknown>,
): Promise<Paced> {
  const tookMs: number[] = []
  const under = new Set<Promise<void>>()
  const failures = new Map<string, number>()
  const timed = async (go: () => Promise<unknown>, dueMs: number): Promise<void> => {
    try {
      await go()
    } catch (error) {
      const why = String(error).slice(0, 200)
      failures.set(why, (failures.get(why) ?? 0) + 1)
    }
    tookMs.push(performance.now() - dueMs)
  }
  const startMs = performance.now()
  for (let n = 0; n < count;) {
    const due = Math.min(count, Math.floor(((performance.now() - startMs) / 1_000) * perSecond))
    for (; n < due; n++) {
      const dueMs = startMs + (n / perSecond) * 1_000
      const one = timed(() => call(n), dueMs).finally(() => under.delete(one))
      under.add(one)
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(under)
  return { tookMs, failures, seconds: (performance.now() - startMs) / 1_000 }
}

export interface Client extends Disposable {
  /** Sends a body, or pieces of one, and resolves to the answer's text. Rejects when it is no 2xx. */
  post: (path: string, type: string, body: string | AsyncIterable<string>) => Promise<string>
}

/** A client that keeps its connections, at most so many. */
export function openClient(url: string, maxSockets: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets })
  const post: Client['post'] = (path, type, body) =>
    new Promise((resolve, reject) => {
      const isWhole = typeof body === 'string'
      const length = isWhole ? { 'content-length': Buffer.byteLength(body) } : {}
      const headers = { 'content-type': type, ...length }
      const req = request(url + path, { method: 'POST', agent, headers }, (res) => {
        const pieces: Buffer[] = []
        res.on('data', (piece: Buffer) => pieces.push(piece))
        res.on('error', reject)
        res.on('end', () => {
          const text = Buffer.concat(pieces).toString()
          if (res.statusCode === 201 || res.statusCode === 202 || res.statusCode === 200)
            resolve(text)
          else reject(new Error(`${res.statusCode}: ${text.slice(0, 500)}`))
        })
      })
      req.on('error', reject)
      if (isWhole) req.end(body)
      else sendPieces(body, req).catch(reject)
    })
  return { post, [Symbol.dispose]: () => agent.destroy() }
}

/** Writes no faster than they are taken. */
async function sendPieces(
  pieces: AsyncIterable<string>,
  req: ReturnType<typeof request>,
): Promise<void> {
  for await (const piece of pieces)
    if (!req.write(piece)) await new Promise<void>((resolve) => req.once('drain', resolve))
  req.end()
}
