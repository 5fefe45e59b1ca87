import type { AlertState } from '@jadwal/domain'
import { appendEvents } from '@jadwal/queue'
import type { Redis } from 'ioredis'

interface AlertChange {
  type: 'alert.opened' | 'alert.closed'
  state: AlertState
}

/** Which alerts have opened and closed between two looks, by `alertKey`. */
export function alertChanges(
  before: ReadonlyMap<string, AlertState>,
  after: ReadonlyMap<string, AlertState>,
): AlertChange[] {
  return [...after].flatMap(([key, state]): AlertChange[] => {
    const old = before.get(key)
    const was = old?.id === state.id ? old.phase : 'pending'
    if (state.phase === 'open' && was === 'pending') return [{ type: 'alert.opened', state }]
    return state.phase === 'closed' && was === 'open' ? [{ type: 'alert.closed', state }] : []
  })
}

/** Tells those who follow events. */
export async function tellChanges(
  { redis, prefix }: { redis: Redis; prefix: string },
  changes: readonly AlertChange[],
): Promise<void> {
  const events = changes.map(({ type, state }) => {
    const { id, rule, kind, group, changedMs } = state
    const { key, subject, summary, count } = group
    const data = { alertId: id, rule, kind, group: key, subject, summary, count }
    return { type, at: new Date(changedMs).toISOString(), data }
  })
  await appendEvents(redis, prefix, events)
}
