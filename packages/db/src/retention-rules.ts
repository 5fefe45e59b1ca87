import { DAY } from '@jadwal/domain'
import { type RawBuilder, sql } from 'kysely'
import type { JobRetention } from './job-retentions.ts'

/** What goes when. Days are whole days of UTC, so a rule says the same all day long. */
export interface RetentionOptions {
  now: Date
  /** Of jobs that say nothing else. */
  retentionDays: number
  retentions: readonly JobRetention[]
}

export type EndedState = 'succeeded' | 'dead' | 'cancelled' | 'skipped'
export const ENDED_STATES: readonly EndedState[] = ['succeeded', 'dead', 'cancelled', 'skipped']

/** Succeeded runs of a job that keeps some of them, or none, are all there for so many days. */
const WHOLE_DAYS = 1

/** The beginning of the day that was so many days ago. */
export function daysBefore(now: Date, days: number): Date {
  return new Date((Math.floor(now.getTime() / DAY) - days) * DAY)
}

/** The jobs whose runs outlive their day's partition. */
export function longerOf({ retentions, retentionDays }: RetentionOptions): JobRetention[] {
  return retentions.filter(({ retention }) => (retention.days ?? 0) > retentionDays)
}

/** Runs of this job and state that ended before this go, save those of ticks; undefined when none do. */
export function goesBefore(
  { now, retentionDays }: RetentionOptions,
  { retention }: JobRetention,
  state: EndedState,
): { border: Date; share: number } | undefined {
  const { days = retentionDays } = retention
  if (days <= WHOLE_DAYS && days < retentionDays) return { border: daysBefore(now, days), share: 0 }
  const share = shareOf({ retention })
  if (state === 'succeeded' && share < 1) return { border: daysBefore(now, WHOLE_DAYS), share }
  return days < retentionDays ? { border: daysBefore(now, days), share: 0 } : undefined
}

/** The share of a job's succeeded runs that stays. */
function shareOf({ retention }: Pick<JobRetention, 'retention'>): number {
  return retention.sample ?? (retention.failures === true ? 0 : 1)
}

/** Whether a run is among so great a share of all: always the same, whoever asks. */
export function isInShare(share: number): RawBuilder<boolean> {
  if (share >= 1) return sql`true`
  if (share <= 0) return sql`false`
  return sql`(('x' || substr(encode(sha256(uuid_send(id)), 'hex'), 1, 8))::bit(32)::bigint < ${share}::float8 * 4294967296)`
}

/** Runs that outlive their day, of one job: those that ended, save succeeded ones that are not in the share. */
export function outlives(
  { now }: Pick<RetentionOptions, 'now'>,
  { job, retention }: JobRetention,
): RawBuilder<boolean> {
  const border = daysBefore(now, retention.days ?? 0)
  return sql`(job = ${job} AND finished_at >= ${border}
    AND (state <> 'succeeded' OR ${isInShare(shareOf({ retention }))}))`
}

/** Runs of any job that outlive their day. */
export function outliveAny(options: RetentionOptions): RawBuilder<boolean> {
  const each = longerOf(options).map((retention) => outlives(options, retention))
  return each.length === 0 ? sql`false` : sql`(${sql.join(each, sql` OR `)})`
}
