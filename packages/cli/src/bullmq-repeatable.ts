import { legacyParts, type RepeatEntry } from './bullmq-entries.ts'

/** What repeats in BullMQ: a job scheduler or a legacy repeatable. */
export interface Repeatable {
  queue: string
  key: string
  /** Of a job scheduler; legacy ones have a key that says nothing. */
  id?: string
  /** The name of its jobs. */
  name: string
  pattern?: string
  everyMs?: number
  /** By how much the next run comes after `nextMs`. */
  shiftMs: number
  tz?: string
  startMs?: number
  endMs?: number
  limit?: number
  /** How many runs were made. */
  made?: number
  immediately: boolean
  nextMs: number
  /** JSON; absent when nobody knows it. */
  data?: string
  opts: Record<string, unknown>
}

/** Puts together what Redis says of an entry; a text when it says too little. */
export function readRepeatable(entry: RepeatEntry): Repeatable | string {
  const { meta, job, member, queue, key, nextMs } = entry
  const jobOpts = parseObject(job['opts'])
  const repeat = asObject(jobOpts['repeat'])
  const isScheduler = meta['ic'] !== undefined
  const isKey = /^[0-9a-f]{32,128}$/.test(member)
  const isText = Object.keys(meta).length === 0
  const old = isText ? legacyParts(member) : undefined
  const name = job['name'] ?? meta['name'] ?? old?.name ?? ''
  const suffix = old?.suffix ?? ''
  const pattern = text(
    meta['pattern'] ?? repeat['pattern'] ?? repeat['cron'] ?? (/^\d*$/.test(suffix) ? '' : suffix),
  )
  const everyMs = number(
    meta['every'] ?? repeat['every'] ?? (/^\d+$/.test(suffix) ? suffix : undefined),
  )
  if (name === '' || (pattern === undefined && everyMs === undefined))
    return 'Redis says neither when it fires nor what: BullMQ would not fire it either'
  const data = meta['data'] ?? job['data'] ?? (isScheduler ? '{}' : undefined)
  return {
    queue,
    key,
    name,
    nextMs,
    shiftMs: isScheduler ? 0 : (number(repeat['offset']) ?? 0),
    immediately: repeat['immediately'] === true,
    opts: meta['opts'] === undefined ? (isScheduler ? {} : jobOpts) : parseObject(meta['opts']),
    ...(isKey || isText ? {} : { id: member }),
    ...defined('pattern', pattern),
    ...defined('everyMs', pattern === undefined ? everyMs : undefined),
    ...defined(
      'tz',
      text(meta['tz'] ?? repeat['tz'] ?? old?.tz) ?? (repeat['utc'] === true ? 'UTC' : undefined),
    ),
    ...defined('startMs', instant(meta['startDate'] ?? repeat['startDate'])),
    ...defined('endMs', instant(meta['endDate'] ?? repeat['endDate'] ?? old?.endDate)),
    ...defined('limit', number(meta['limit'] ?? repeat['limit'])),
    ...defined('made', number(meta['ic'] ?? repeat['count'])),
    ...defined('data', data),
  }
}

function defined<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [key in K]?: V }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

function number(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const found = Number(value)
  return Number.isFinite(found) ? found : undefined
}

/** Milliseconds, or a date as text, as legacy options have it. */
function instant(value: unknown): number | undefined {
  const ms = number(value) ?? (typeof value === 'string' ? Date.parse(value) : Number.NaN)
  return Number.isFinite(ms) ? ms : undefined
}

function parseObject(json: string | undefined): Record<string, unknown> {
  try {
    return asObject(JSON.parse(json ?? '{}'))
  } catch {
    return {}
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}
