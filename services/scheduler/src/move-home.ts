import type { ScheduleId } from '@jadwal/domain'
import type { FiringQueue, Reign } from '@jadwal/queue'

/**
 * Takes a schedule's last tick along to another queue. First the old queue is closed to it, by
 * compare-and-set, so that a leader that does not know of the move can't fire there any more; then
 * the new queue gets the last tick. A crash in between leaves the schedule closed in the old queue
 * and at home there: the next leader does the same again.
 */
export async function moveHome(
  reign: Reign,
  scheduleId: ScheduleId,
  { from, to }: { from: FiringQueue; to: FiringQueue },
): Promise<void> {
  const last = await from.changeLastTick(reign, scheduleId, (known) => ({
    ms: known?.ms ?? 0,
    moved: true,
  }))
  await to.changeLastTick(reign, scheduleId, (known) => ({
    ms: Math.max(last.ms, known?.ms ?? 0),
    moved: false,
  }))
}
