import type { JobDescription } from '@jadwal/domain'
import { readCatalogue } from '@jadwal/queue'
import type { Redis } from 'ioredis'

/** The jobs that workers have published, kept in memory: what says which queue a job's runs go to. */
export class Catalogue {
  #jobs = new Map<string, JobDescription>()

  async refresh(redis: Redis, prefix: string): Promise<void> {
    const jobs = await readCatalogue(redis, prefix)
    // After a loss of data in Redis the workers publish again; until then what is known holds.
    if (jobs.length > 0) this.#jobs = new Map(jobs.map((job) => [job.name, job]))
  }

  job(name: string): JobDescription | undefined {
    return this.#jobs.get(name)
  }

  jobs(): JobDescription[] {
    return [...this.#jobs.values()]
  }

  queueOf(job: string): string | undefined {
    return this.#jobs.get(job)?.queue
  }

  queues(): Set<string> {
    return new Set([...this.#jobs.values()].map((job) => job.queue))
  }

  names(): string[] {
    return [...this.#jobs.keys()]
  }
}
