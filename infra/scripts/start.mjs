// npm start: installs and builds when needed, then becomes the supervisor (packages/embedded).
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkNodeVersion, ensureBuilt, ensureInstalled, ROOT } from './project.mjs'

checkNodeVersion()
await ensureInstalled()
await ensureBuilt()
process.setSourceMapsEnabled(true)
await import(pathToFileURL(join(ROOT, 'packages', 'embedded', 'dist', 'main.js')).href)
