import { readFile } from 'node:fs/promises'
import { startTestRedis, type TestRedis } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { CASES } from './run-cli.ts'
import { type InProcess, readSchedules, refusedLines, runInProcess } from './run-in-process.ts'

/** A Redis in which BullMQ's keys lie, and the import as a user of it that may do nothing but read. */
export class BullmqReader implements AsyncDisposable {
  readonly redis: Redis
  readonly server: TestRedis
  readonly url: string

  private constructor(server: TestRedis) {
    this.server = server
    this.redis = new Redis(server.url)
    this.url = server.url.replace('redis://', 'redis://reader:pass@')
  }

  static async start(): Promise<BullmqReader> {
    const reader = new BullmqReader(await startTestRedis())
    const may = ['~*', '-@all', '+@read', '+@connection']
    await reader.redis.call('ACL', 'SETUSER', 'reader', 'on', '>pass', ...may)
    return reader
  }

  /** Fills Redis with what a real BullMQ left there, command by command. */
  async fill(name: string): Promise<void> {
    const text = await readFile(`${CASES}${name}.json`, 'utf8')
    const commands: [string, ...string[]][] = JSON.parse(text)
    for (const [command, ...args] of commands) await this.redis.call(command, ...args)
  }

  /** One entry of queue `q`, as a job scheduler of BullMQ 6 has it. */
  async addScheduler(id: string, meta: Record<string, string>, nextMs = 1.8e12): Promise<void> {
    await this.redis.hset(`bull:q:repeat:${id}`, { name: id, ic: '1', ...meta })
    await this.redis.zadd('bull:q:repeat', nextMs, id)
  }

  async run(...options: string[]): Promise<InProcess> {
    return await runInProcess(['import', 'bullmq', '--redis-url', this.url, ...options])
  }

  async take(...options: string[]) {
    const { exitCode, output, report } = await this.run(...options)
    if (exitCode !== 0) throw new Error(report)
    return { schedules: readSchedules(output), report, refused: refusedLines(report) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.redis.disconnect()
    await this.server[Symbol.asyncDispose]()
  }
}
