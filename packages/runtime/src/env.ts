import { z } from 'zod'
import { ConfigError, type EnvProblem } from './config-error.ts'

/**
 * Reads an environment by a zod object. A variable that is empty counts as not set.
 * Throws `ConfigError` that names every bad variable at once.
 */
export function parseEnv<T>(schema: z.ZodType<T>, env: NodeJS.ProcessEnv): T {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  throw new ConfigError(problemsOf(parsed.error, given))
}

function problemsOf(error: z.ZodError, env: NodeJS.ProcessEnv): EnvProblem[] {
  const problems = new Map<string, EnvProblem>()
  for (const issue of error.issues) {
    const variable = String(issue.path[0] ?? 'environment')
    const value = env[variable]
    if (problems.has(variable)) continue
    problems.set(variable, {
      variable,
      problem: value === undefined ? 'must be set' : issue.message,
      ...(value === undefined ? {} : { value }),
    })
  }
  return [...problems.values()]
}

/** A whole number in a variable, from `min` to `max`. */
export function integerEnv(min: number, max: number): z.ZodType<number, string> {
  const rule = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,15}$/, rule)
    .transform(Number)
    .refine((value) => value >= min && value <= max, rule)
}
