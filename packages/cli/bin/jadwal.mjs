#!/usr/bin/env node
// The command as it was built; in a checkout that was never built, straight from its sources.
import { existsSync } from 'node:fs'

const built = new URL('../dist/jadwal.js', import.meta.url)
if (existsSync(built)) {
  await import(built.href)
} else {
  const { register } = await import('tsx/esm/api')
  register()
  await import('../src/main.ts')
}
