import { fileURLToPath } from 'node:url'

/** The folder of the whole project. */
export const PROJECT_ROOT = fileURLToPath(new URL('../../..', import.meta.url))
