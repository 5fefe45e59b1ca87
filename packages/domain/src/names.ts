import { z } from 'zod'

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/
const NAME_RULE =
  'must match [a-z0-9][a-z0-9._-]{0,99}: lower-case letters, digits, ".", "_" and "-", at most 100 characters, a letter or digit first'

export const JobName = z.string().regex(NAME, NAME_RULE)

export const CalendarName = z.string().regex(NAME, NAME_RULE)

const RESERVED_SCHEDULES = new Set(['plan', 'apply', 'load'])
export const ScheduleName = z
  .string()
  .regex(NAME, NAME_RULE)
  .refine(
    (name) => !RESERVED_SCHEDULES.has(name),
    'is reserved: plan, apply and load are addresses of the api',
  )

/** The queue of alarms that only the leader consumes. */
export const TICKS_QUEUE = 'ticks'
/** The queue of the messages that tell people of alerts. */
export const ALERTS_QUEUE = 'alerts'
const RESERVED_QUEUES = new Set([TICKS_QUEUE, ALERTS_QUEUE])
export const QueueName = z
  .string()
  .regex(NAME, NAME_RULE)
  .refine(
    (name) => !RESERVED_QUEUES.has(name) && !name.endsWith('.dead'),
    'is reserved: ticks, alerts and names ending in .dead belong to Jadwal itself',
  )

/** A queue that workers serve: of users, or that of alerts. */
export const ServedQueueName = z.union([z.literal(ALERTS_QUEUE), QueueName])

/** Of an alert rule, a channel or a silence. */
export const AlertName = z.string().regex(NAME, NAME_RULE)
