import { RunMessage } from '@jadwal/domain'
import { z } from 'zod'

const { schedule, labels, redriveOf, parentId, idempotencyKey } = RunMessage.shape

/** Of a message of another version, the parts that look as they do in ours. */
const Parts = z.object({
  payload: z.unknown(),
  schedule: schedule.catch(undefined),
  labels: labels.catch(undefined),
  redriveOf: redriveOf.catch(undefined),
  parentId: parentId.catch(undefined),
  idempotencyKey: idempotencyKey.catch(undefined),
})

/**
 * What a message's data says, to be shown: of a form that is not known here as much as can be read,
 * with all of it as the payload when it has none.
 */
export function readableMessage(data: unknown): RunMessage {
  const message = RunMessage.safeParse(data)
  if (message.success) return message.data
  const parts = Parts.safeParse(data)
  if (!parts.success) return { v: 1, payload: data ?? null }
  const { payload = data, ...others } = parts.data
  const told = Object.entries(others).filter(([, value]) => value !== undefined)
  return { v: 1, payload, ...Object.fromEntries(told) }
}
