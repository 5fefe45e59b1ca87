import { z } from 'zod'

/** What somebody may do: look; act on runs, queues and schedules; or decide who may. Each includes those before it. */
export const Role = z.enum(['viewer', 'operator', 'admin'])
export type Role = z.infer<typeof Role>

/** Whether who has a role may do what needs another. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return Role.options.indexOf(role) >= Role.options.indexOf(needed)
}
