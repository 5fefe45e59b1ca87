import { defineConfig } from 'vitest/config'

/** Whole-system tests start many processes and measure time: one file after the other. */
const SYSTEM = ['test/**/*.test.ts']
/** Minutes each: only with `npm run test:faults`. */
const LONG = ['test/faults/**/*.long.test.ts']
const faultsOnly = process.env['JADWAL_TEST_FAULTS'] === '1'

const shared = {
  retry: 0,
  setupFiles: './test/setup/fail-on-console.ts',
  hookTimeout: 60_000,
}

export default defineConfig({
  test: {
    globalSetup: './test/setup/global-setup.ts',
    maxWorkers: 2,
    projects: faultsOnly ? [long()] : [fast(), system()],
  },
})

function fast() {
  const include = ['packages/*/{src,test}/**/*.test.ts', 'services/*/{src,test}/**/*.test.ts']
  return { test: { ...shared, name: 'fast', include, testTimeout: 20_000 } }
}

function system() {
  return {
    test: {
      ...shared,
      name: 'system',
      include: SYSTEM,
      exclude: LONG,
      testTimeout: 120_000,
      fileParallelism: false,
      sequence: { groupOrder: 1 },
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
