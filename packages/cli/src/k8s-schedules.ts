import type { Refusal, Remark } from './import-report.ts'
import { readPodCommand } from './k8s-command.ts'
import { leftOut } from './k8s-left-out.ts'
import type { K8sObject, K8sObjects } from './k8s-objects.ts'
import { K8S_DEFAULTS, readCronJobPolicies, readJobPolicies } from './k8s-policies.ts'
import { SecretNames } from './k8s-secrets.ts'
import { readCronJobTime } from './k8s-time.ts'
import { nameSlug, UniqueNames } from './unique-names.ts'
import { scheduleProblem, type TakenSchedule } from './taken-schedule.ts'
import { WrongFieldError, type YamlMap } from './yaml-map.ts'

export interface TakenCronJob extends TakenSchedule {
  source: string
  line: number
  /** Neither the CronJob nor its schedule names a zone. */
  zoneAssumed: boolean
}

/** What became of the objects of some files. */
export class CronJobTakeOver {
  readonly taken: TakenCronJob[] = []
  refused: Refusal[] = []
  readonly toDo: Remark[] = []
  readonly notes: Remark[] = []
  readonly #names = new UniqueNames()
  readonly #secrets = new SecretNames()
  readonly #timezone: string

  /** `timezone` is that of CronJobs without one. */
  constructor(timezone: string) {
    this.#timezone = timezone
  }

  addFile(source: string, { objects, broken }: K8sObjects): void {
    const earlier = this.refused
    this.refused = broken.map((part) => ({ source, ...part }))
    for (const object of objects) this.#add(source, object)
    this.refused = [...earlier, ...this.refused.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))]
  }

  #add(source: string, { map, kind, apiVersion }: K8sObject): void {
    const { line } = map
    const text = [kind || 'an object without kind', nameOf(map)].filter(Boolean).join(' ')
    if (kind !== 'CronJob' || !/^(batch\/.*)?$/.test(apiVersion)) {
      const which = kind === 'CronJob' ? `a CronJob of ${apiVersion}` : 'no CronJob'
      this.refused.push({
        source,
        line,
        text,
        why: `it is ${which}: only those of batch/v1 are taken over`,
      })
      return
    }
    try {
      this.#takeOver(source, map)
    } catch (error) {
      if (!(error instanceof WrongFieldError)) throw error
      this.refused.push({ source, line: error.line, text, why: error.message })
    }
  }

  #takeOver(source: string, map: YamlMap): void {
    const { line } = map
    const metadata = required(map, 'metadata')
    const spec = required(map, 'spec')
    const job = required(required(spec, 'jobTemplate'), 'spec')
    const pod = required(required(job, 'template'), 'spec')
    const original = metadata.text('name') ?? metadata.text('generateName')
    if (!original) throw metadata.missing('name', 'of letters, digits, "-" and "."')
    metadata.ignore('generateName')
    pod.ignore('restartPolicy')
    const namespace = metadata.text('namespace') ?? ''
    const time = readCronJobTime(spec)
    const policies = readCronJobPolicies(spec)
    const jobPolicies = readJobPolicies(job, pod)
    const command = readPodCommand(pod, this.#secrets, namespace)
    const labels = readLabels(metadata, namespace)
    const name = this.#nameFor(original, namespace)
    const fields = {
      job: 'shell.exec',
      ...(time.cron === undefined ? {} : { cron: time.cron }),
      ...(time.every === undefined ? {} : { every: time.every }),
      timezone: time.timezone ?? this.#timezone,
      ...policies,
      ...jobPolicies.fields,
      payload: command.payload,
      ...(Object.keys(labels.labels).length === 0 ? {} : { labels: labels.labels }),
    }
    const why = scheduleProblem({ name, fields }, K8S_DEFAULTS)
    if (why !== undefined) throw new WrongFieldError(line, why)
    this.#names.take(name)
    const comment = `CronJob ${namespace === '' ? '' : `${namespace}/`}${original} (${source}:${line})`
    const zoneAssumed = time.timezone === undefined && time.cron !== undefined
    this.taken.push({ name, fields, comment, source, line, zoneAssumed })
    const left = [...labels.refused, ...command.refused, ...leftOut(map.unread())]
    for (const part of left) this.refused.push({ source, ...part, text: `${name}: ${part.text}` })
    this.toDo.push(
      ...command.toDo.map((part) => ({
        source,
        line: part.line,
        remark: `${name}: ${part.remark}`,
      })),
    )
    const renamed = name === original ? [] : [`the CronJob ${original} became the schedule ${name}`]
    for (const note of [...renamed, ...time.notes, ...jobPolicies.notes])
      this.notes.push({ source, line, remark: `${name}: ${note}` })
  }

  /** Of CronJobs with the same name in several namespaces, the later ones bear their namespace. */
  #nameFor(original: string, namespace: string): string {
    const slug = nameSlug(original)
    const collides = this.#names.has(slug) && namespace !== ''
    return this.#names.free(collides ? `${nameSlug(namespace)}.${slug}` : slug, 'cronjob')
  }
}

function nameOf(map: YamlMap): string | undefined {
  try {
    return map.map('metadata')?.text('name')
  } catch {
    return undefined
  }
}

function required(map: YamlMap, key: string): YamlMap {
  const found = map.map(key)
  if (!found) throw map.missing(key, 'as a CronJob has it')
  return found
}

const LONGEST_KEY = 100
const LONGEST_VALUE = 200

function readLabels(
  metadata: YamlMap,
  namespace: string,
): { labels: Record<string, string>; refused: { line: number; text: string; why: string }[] } {
  const written = metadata.map('labels')
  const labels = new Map<string, string>()
  const refused: { line: number; text: string; why: string }[] = []
  for (const key of written?.keys() ?? []) {
    const value = written?.loose(key) ?? ''
    if (key.length <= LONGEST_KEY && value.length <= LONGEST_VALUE && key !== 'namespace')
      labels.set(key, value)
    else
      refused.push({
        line: written?.lineOf(key) ?? metadata.line,
        text: `label ${key}: ${value}`,
        why:
          key === 'namespace'
            ? 'the label "namespace" says in which namespace the CronJob is'
            : `a label has at most ${LONGEST_KEY} characters, its value at most ${LONGEST_VALUE}`,
      })
  }
  if (namespace !== '') labels.set('namespace', namespace)
  return { labels: Object.fromEntries(labels), refused }
}
