import { afterEach, beforeEach, vi } from 'vitest'

/** Whoever prints from a test or from the code under test has forgotten something. */
const METHODS = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const
const printed: string[] = []

beforeEach(() => {
  printed.length = 0
  for (const method of METHODS) {
    vi.spyOn(console, method).mockImplementation((...parts: unknown[]) => {
      printed.push(`console.${method}(${parts.map(String).join(', ')})`)
    })
  }
})

afterEach(() => {
  vi.restoreAllMocks()
  if (printed.length > 0) throw new Error(`printed through console: ${printed.join('; ')}`)
})
