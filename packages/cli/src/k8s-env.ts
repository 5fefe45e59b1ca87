import type { SecretNames } from './k8s-secrets.ts'
import { secretRef } from './taken-schedule.ts'
import type { YamlMap } from './yaml-map.ts'

export interface ContainerEnv {
  env: Record<string, string | { secret: string }>
  toDo: { line: number; remark: string }[]
  refused: { line: number; text: string; why: string }[]
}

/** The environment of a container. A value from a Secret becomes a reference to a secret of the worker. */
export function readContainerEnv(
  container: YamlMap,
  names: SecretNames,
  namespace: string,
): ContainerEnv {
  const found: ContainerEnv = { env: {}, toDo: [], refused: [] }
  for (const variable of container.maps('env')) {
    const name = variable.text('name')
    if (!name) throw variable.missing('name', 'such as LOG_LEVEL')
    if (name === '__proto__') throw variable.wrong('name', 'is not kept')
    const value = variable.text('value')
    const from = variable.map('valueFrom')
    const secret = from?.map('secretKeyRef')
    if (secret) {
      const key = [secret.text('name') ?? '', secret.text('key') ?? ''] as const
      secret.ignore('optional')
      const worker = names.nameOf(namespace, ...key)
      found.env[name] = secretRef(worker)
      found.toDo.push({
        line: variable.line,
        remark: `${name} came from key ${key[1]} of the Secret ${key[0]}: give its value to the workers as JADWAL_SECRET_${worker}`,
      })
    } else if (from) {
      const [source = 'valueFrom'] = from.keys()
      from.ignore(...from.keys())
      found.refused.push({
        line: variable.line,
        text: `env ${name} from ${source}`,
        why: 'the value is known to Kubernetes only: write it into "env" by hand, or do without',
      })
    } else found.env[name] = expand(value ?? '', found.env).text
  }
  return found
}

export interface Expanded {
  text: string
  /** References whose value is not in the file. */
  unknown: string[]
}

/** Fills in `$(NAME)` as Kubernetes does: `$$` is a plain `$`, and what has no value stays as it is. */
export function expand(
  written: string,
  env: Readonly<Record<string, string | { secret: string }>>,
): Expanded {
  const unknown: string[] = []
  const text = written.replaceAll(/\$\$|\$\(([^)]*)\)/g, (whole, name?: string) => {
    if (name === undefined) return '$'
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (typeof value === 'string') return value
    if (value !== undefined) unknown.push(name)
    return whole
  })
  return { text, unknown }
}
