/**
 * Times are counted in buckets whose borders grow by this factor, so that a percentile, told by the
 * middle of its bucket, is off by 5 % at most, whatever is added together.
 */
export const BUCKET_GROWTH = 1.1

/** How many times lie in each bucket, by its number; there may be gaps. */
export type Buckets = readonly (number | undefined)[]

/** The bucket of a time: 0 below a millisecond, 1 up to one, then each a tenth longer than the one before. */
export function bucketOf(ms: number): number {
  return ms < 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(BUCKET_GROWTH) - 1e-9) + 1
}

/** The time in ms that stands for all of a bucket. */
export function bucketMs(bucket: number): number {
  if (bucket <= 1) return bucket
  return Number(((2 * BUCKET_GROWTH ** (bucket - 1)) / (BUCKET_GROWTH + 1)).toPrecision(4))
}

/** The time that a share of all, from 0 to 1, does not exceed, in ms; undefined when there are none. */
export function percentileMs(buckets: Buckets, share: number): number | undefined {
  const total = buckets.reduce((sum: number, count = 0) => sum + count, 0)
  const wanted = Math.max(1, Math.ceil(share * total))
  let reached = 0
  for (const [bucket, count = 0] of buckets.entries()) {
    reached += count
    if (reached >= wanted) return bucketMs(bucket)
  }
  return undefined
}
