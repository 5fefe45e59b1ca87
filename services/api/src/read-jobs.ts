import type { Fuse, JobDescription } from '@jadwal/domain'
import { type FuseView, readCatalogue, readFuses } from '@jadwal/queue'
import type { Redis } from 'ioredis'

/** A job of the catalogue, with how its fuse stands if it has one. */
type JobView = Omit<JobDescription, 'fuse'> & { fuse?: Fuse & FuseView }

/** All jobs that workers have published, by name. */
export async function readJobs(redis: Redis, prefix: string): Promise<JobView[]> {
  const jobs = await readCatalogue(redis, prefix)
  const fused = jobs.filter((job) => job.fuse !== undefined)
  const views = await readFuses(redis, prefix, fused)
  const viewOf = new Map(fused.map((job, at) => [job.name, views[at]]))
  return jobs.map((job) => viewed(job, viewOf.get(job.name)))
}

function viewed({ fuse, ...job }: JobDescription, view: FuseView | undefined): JobView {
  return fuse && view ? { ...job, fuse: { ...fuse, ...view } } : job
}
