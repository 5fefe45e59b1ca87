import type { ImportReport } from './import-report.ts'
import type { CronJobTakeOver } from './k8s-schedules.ts'
import { someNames } from './some-names.ts'

/** What was taken over, what was not and why, and what differs from Kubernetes. */
export function k8sReport(
  title: string,
  takeOver: CronJobTakeOver,
  timezone?: string,
): ImportReport {
  const { taken, refused, toDo, notes } = takeOver
  const assumed = taken.filter(({ zoneAssumed }) => zoneAssumed).map(({ name }) => name)
  return {
    title,
    noun: 'part',
    refused,
    toDo,
    taken: taken.map(({ source, line, name }) => ({ source, line, schedule: name })),
    notes: taken.length === 0 ? notes : [...general({ assumed, timezone }), ...notes],
  }
}

function general({
  assumed,
  timezone,
}: {
  assumed: readonly string[]
  timezone: string | undefined
}): string[] {
  return [
    assumed.length > 0 &&
      timezone === undefined &&
      `No timeZone: ${someNames(assumed)} ran in the zone of kube-controller-manager. They are read in UTC, which it mostly is; --timezone says otherwise.`,
    'As under Kubernetes, runs may overlap where concurrencyPolicy says nothing, backoffLimit is 6 (7 attempts) where it is not given, and a run may take long (24 h): see "defaults".',
    'As under Kubernetes, of the ticks missed in an outage the newest alone is made up for ("misfire: once"). Kubernetes gives up when more than 100 were missed; Jadwal does not.',
    'As under Kubernetes, a time that a clock change skips is dropped and one that comes twice fires twice: see "dst" in "defaults".',
    'activeDeadlineSeconds of a Job held for all its tries together; "timeoutMs" is for each attempt. How long to wait between attempts is the job\'s: shell.exec.',
    "Commands run as the worker's user, in \"/\" where no workingDir is given, and with no environment but the worker's and the schedule's.",
  ].filter((note) => note !== false)
}
