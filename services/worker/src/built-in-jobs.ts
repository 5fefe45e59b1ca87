/** A module of jobs that children can load. */
export { jobs } from '@jadwal/jobs'
