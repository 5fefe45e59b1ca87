import manifest from '../package.json' with { type: 'json' }

/** Of this command; those of the services are the same in one release. */
export const VERSION: string = manifest.version
