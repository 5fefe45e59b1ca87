import type { UnreadField } from './yaml-map.ts'

/** What `kubectl get` fills in by itself, and what only the server knows. */
const OF_THE_SERVER =
  /^(status|metadata\.(uid|resourceVersion|generation|creationTimestamp|managedFields|selfLink|ownerReferences|finalizers))$/
const ITS_DEFAULTS: Record<string, unknown> = {
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
  terminationGracePeriodSeconds: 30,
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  completions: 1,
  parallelism: 1,
  completionMode: 'NonIndexed',
  podReplacementPolicy: 'TerminatingOrFailed',
  manualSelector: false,
  suspend: false,
}

const IN_A_POD = 'commands run on a worker, in no pod'

const WHY: Record<string, string> = {
  successfulJobsHistoryLimit: 'Jadwal keeps the history of runs for a time, not for a number',
  failedJobsHistoryLimit: 'Jadwal keeps the history of runs for a time, not for a number',
  ttlSecondsAfterFinished: 'Jadwal keeps the history of runs for a time, the same for all',
  annotations: 'Jadwal has labels only',
  initContainers:
    'a run is one command: let it do what came before it, or make that a schedule of its own',
  parallelism: 'a tick makes one run',
  completions: 'a tick makes one run',
  completionMode: 'a tick makes one run',
  backoffLimitPerIndex: 'a tick makes one run',
  maxFailedIndexes: 'a tick makes one run',
  podFailurePolicy: 'every exit code but 0 is tried again, as often as "attempts" says',
  successPolicy: 'a run has succeeded when its command ends with exit code 0',
  suspend: 'only the CronJob itself can be paused',
  labels: 'only the labels of the CronJob itself were taken over',
  resources: 'the limits are those of the worker',
  terminationGracePeriodSeconds: 'how long a command may take to end is fixed',
}

/** The fields of a CronJob that nothing was made of, and why. */
export function leftOut(
  fields: readonly UnreadField[],
): { line: number; text: string; why: string }[] {
  return fields.filter(isWorthTelling).map(({ line, path, value }) => {
    const key = lastKey(path)
    const why =
      WHY[key] ?? (path.includes('.template.spec.') ? IN_A_POD : 'it is no field that Jadwal knows')
    return { line, text: `${path}: ${shown(value)}`, why }
  })
}

function isWorthTelling({ path, value }: UnreadField): boolean {
  const key = lastKey(path)
  const isDefault = Object.hasOwn(ITS_DEFAULTS, key) && ITS_DEFAULTS[key] === value
  return !OF_THE_SERVER.test(path) && !isDefault
}

function lastKey(path: string): string {
  return path.split('.').at(-1) ?? ''
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
