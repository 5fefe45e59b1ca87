import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { z } from 'zod'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Empty, as `NAME: ${NAME:-}` is, YAML reads as null. */
const EnvironmentValue = z
  .union([z.string(), z.number(), z.null()])
  .transform((value) => (value === null ? '' : `${value}`))

const Service = z.looseObject({
  image: z.string(),
  user: z.string().optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), EnvironmentValue).default({}),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string()).default([]),
  restart: z.string().optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  stop_grace_period: z.string().optional(),
  deploy: z.object({ replicas: z.union([z.number(), z.string()]) }).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.looseObject({ test: z.array(z.string()) }).optional(),
})
export type ComposeService = z.infer<typeof Service>

const ComposeFile = z.looseObject({
  services: z.record(z.string(), Service),
  volumes: z.record(z.string(), z.unknown()),
})

/** The compose file as Docker reads it: merged, and each `${NAME:-default}` at its default. */
export function readComposeFile(): z.infer<typeof ComposeFile> {
  const text = readProjectFile('docker-compose.yml')
  return ComposeFile.parse(parse(withDefaults(text), { merge: true }))
}

/** A text file, by its path from the root of the project. */
export function readProjectFile(path: string): string {
  return readFileSync(projectPath(path), 'utf8')
}

export function projectPath(path: string): string {
  return `${ROOT}${path}`
}

/** The names that a compose file takes from the environment, with their defaults. */
export function composeVariables(text: string): Map<string, string> {
  const found = text.matchAll(/(?<!\$)\$\{([A-Z_]+):-([^}]*)\}/g)
  return new Map(Array.from(found, ([, name = '', fallback = '']) => [name, fallback]))
}

function withDefaults(text: string): string {
  return text.replaceAll(/(?<!\$)\$\{[A-Z_]+:-([^}]*)\}/g, '$1')
}
