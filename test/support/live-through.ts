import { setTimeout as delay } from 'node:timers/promises'
import { eventually, type ServiceProcess } from '@jadwal/testkit'
import { expect } from 'vitest'
import { cpuSeconds } from '../bench/cpu-time.ts'

/**
 * Lines above info that a service may write while something lasts. Each of its loops may say now and then
 * that it fails, the scheduler has a dozen; a storm is hundreds a second.
 */
const FEW_LINES = 45
/** Of one core. A loop without a pause takes all of it, and a light load a tenth. */
const MUCH_CPU = 0.6

export type Services = Readonly<Record<string, ServiceProcess>>

/** Ready or not, as its own page says; undefined while the page is not answered. */
async function isReady(service: ServiceProcess): Promise<boolean | undefined> {
  const signal = AbortSignal.timeout(3_000)
  const page = await fetch(`http://127.0.0.1:${service.port}/readyz`, { signal }).catch(() => null)
  return page === null ? undefined : page.ok
}

/**
 * Expects that services stay calm while `act` goes on: few lines in their logs, news of single runs
 * aside, and little CPU time. Returns which of them said that they were not ready.
 */
export async function expectCalm(
  services: Services,
  act: () => Promise<void>,
): Promise<ReadonlySet<string>> {
  const all = Object.entries(services)
  const before = all.map(([, { pid, logs }]) => ({ cpu: cpuSeconds(pid), lines: logs.length }))
  const startMs = performance.now()
  const notReady = new Set<string>()
  const over = new AbortController()
  const watching = all.map(async ([name, service]) => {
    while (!over.signal.aborted) {
      if ((await isReady(service)) === false) notReady.add(name)
      await delay(100)
    }
  })
  await act()
  const seconds = (performance.now() - startMs) / 1_000
  for (const [at, [name, { pid, logs, child }]] of all.entries()) {
    const { cpu, lines } = before[at] ?? { cpu: 0, lines: 0 }
    const loud = logs.slice(lines).filter(isLoud)
    expect(loud.length, `${name} wrote:\n${loud.join('\n')}`).toBeLessThan(FEW_LINES)
    const share = (cpuSeconds(pid) - cpu) / seconds
    expect(share, `part of a core that ${name} took`).toBeLessThan(MUCH_CPU)
    expect(child.exitCode, `exit code of ${name}`).toBeNull()
  }
  over.abort()
  await Promise.all(watching)
  return notReady
}

/** Resolves when all say that they are ready. */
export async function allReady(services: Services): Promise<void> {
  await eventually(
    async () => {
      const ready = await Promise.all(Object.values(services).map(isReady))
      expect(ready.every((each) => each === true)).toBe(true)
    },
    { timeoutMs: 30_000, everyMs: 100 },
  )
}

function isLoud(line: string): boolean {
  return /"level":"(warn|error|fatal)"/.test(line) && !line.includes('"run":')
}
