import { expand, readContainerEnv } from './k8s-env.ts'
import type { SecretNames } from './k8s-secrets.ts'
import type { YamlMap } from './yaml-map.ts'

export interface PodCommand {
  /** Of `shell.exec`. */
  payload: Record<string, unknown>
  toDo: { line: number; remark: string }[]
  refused: { line: number; text: string; why: string }[]
}

/** The command of a pod's container, as a payload of `shell.exec`. Further containers are not taken over. */
export function readPodCommand(pod: YamlMap, names: SecretNames, namespace: string): PodCommand {
  const [container, ...others] = pod.maps('containers')
  if (!container) throw pod.missing('containers', 'container at least')
  const image = container.text('image') ?? ''
  const imageLine = container.lineOf('image')
  const { env, toDo, refused } = readContainerEnv(container, names, namespace)
  const written = [...container.texts('command')]
  const guessed = written.length === 0
  const words = [...(guessed ? [programOf(image)] : written), ...container.texts('args')]
  const expanded = words.map((word) => expand(word, env))
  const [command = '', ...args] = expanded.map(({ text }) => text)
  const cwd = container.text('workingDir')
  container.ignore('name', 'imagePullPolicy')
  for (const name of new Set(expanded.flatMap(({ unknown }) => unknown)))
    refused.push({
      line: container.lineOf('args'),
      text: `$(${name}) in the command`,
      why: 'the value comes from a Secret and can stand in "env" only: let the command read its environment',
    })
  for (const other of others) {
    refused.push({
      line: other.line,
      text: `container ${other.text('name') ?? ''}: ${other.text('image') ?? ''}`,
      why: 'a run is one command: only the first container was taken over',
    })
    other.ignore(...other.keys())
  }
  return {
    payload: {
      command,
      ...(args.length === 0 ? {} : { args }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(Object.keys(env).length === 0 ? {} : { env }),
    },
    toDo: [
      { line: imageLine, remark: `image ${image || '(none)'}: ${mapping(command, guessed)}` },
      ...toDo,
    ],
    refused,
  }
}

function mapping(command: string, guessed: boolean): string {
  const run = 'commands run on a worker, in no image'
  if (guessed)
    return `${run}, and this one names no command, so its entrypoint ran: "${command}" stands for it; write the absolute path of what it was`
  if (!command.startsWith('/'))
    return `${run}: write the absolute path of "${command}" on the workers, and let their JADWAL_EXEC_ALLOW name it`
  return `${run}: install what ${command} needs on the workers, and let their JADWAL_EXEC_ALLOW name it`
}

/** `curl` of `docker.io/curlimages/curl:8.1@sha256:…`. */
function programOf(image: string): string {
  const name = image.replace(/@.*$/, '').split('/').at(-1)?.replace(/:.*$/, '')
  return name || 'command'
}
