import { defineConfig } from 'vitest/config'

/** Tests that start many processes: after all others. */
const SYSTEM = ['test/faults/**/*.test.ts', 'test/start/**/*.test.ts']
/** Of those, the ones that promise a time or watch the CPU: after all others, few at a time. */
const CALM = [
  'test/faults/{redis-moods,rolling-restart,scheduler-clock,scheduler-kill,scheduler-step-down,worker-stop}.test.ts',
  'test/start/**/*.test.ts',
]
/** Minutes each: only with `npm run test:faults`. */
const LONG = ['test/faults/**/*.long.test.ts']
const faultsOnly = process.env['JADWAL_TEST_FAULTS'] === '1'

const shared = {
  retry: 0,
  setupFiles: './test/setup/fail-on-console.ts',
  hookTimeout: 60_000,
  // To load the whole of the code anew for each file takes longer than most files.
  isolate: false,
}

export default defineConfig({
  test: {
    globalSetup: './test/setup/global-setup.ts',
    // Tests wait more than they compute.
    maxWorkers: 4,
    projects: faultsOnly ? [long()] : [fast(), system(), calm()],
  },
})

function fast() {
  const include = ['{packages,services}/*/{src,test}/**/*.test.ts', 'test/**/*.test.ts']
  return {
    test: {
      ...shared,
      name: 'fast',
      include,
      exclude: SYSTEM,
      // What a test waits for has a deadline of its own; this one is for what hangs, on a busy machine too.
      testTimeout: 60_000,
    },
  }
}

function system() {
  return {
    test: {
      ...shared,
      name: 'system',
      include: SYSTEM,
      exclude: [...LONG, ...CALM],
      testTimeout: 120_000,
      sequence: { groupOrder: 1 },
    },
  }
}

function calm() {
  return {
    test: {
      ...shared,
      name: 'calm',
      include: CALM,
      testTimeout: 120_000,
      maxWorkers: 2,
      sequence: { groupOrder: 2 },
    },
  }
}

function long() {
  return {
    test: {
      ...shared,
      name: 'faults',
      include: LONG,
      testTimeout: 900_000,
      fileParallelism: false,
    },
  }
}
