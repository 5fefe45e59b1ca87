import type { ChildProcess } from 'node:child_process'

const living = new Set<ChildProcess>()

process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/** A child that does not outlive the test process, however that ends (but for SIGKILL). */
export function killAtExit(child: ChildProcess): void {
  living.add(child)
  child.once('exit', () => living.delete(child))
}
