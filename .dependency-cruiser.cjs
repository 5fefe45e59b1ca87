/** The arrows between packages, as rules. ARCHITECTURE.md has the table they come from. */
/** The sdk has doors beside its index: for workers, and for users' tests. */
const SDK_DOORS = '^packages/sdk/src/(attempts|testing)[.]ts$'
const BUILTIN = '^(node:)?(crypto|assert)$'
const arrows = {
  domain: [],
  queue: ['domain'],
  db: ['domain'],
  runtime: [],
  sdk: ['domain', 'queue'],
  jobs: ['sdk', 'domain'],
  embedded: ['runtime'],
  cli: ['sdk', 'domain', 'queue', 'db'],
}
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'domain-is-pure',
      severity: 'error',
      from: { path: '^packages/domain/src', pathNot: '[.]test[.]ts$' },
      to: { pathNot: ['^packages/domain/src', '^node_modules/(zod|cron-parser|luxon)/', BUILTIN] },
    },
    {
      name: 'db-does-not-know-redis',
      severity: 'error',
      from: { path: '^packages/db/' },
      to: { path: '^node_modules/(bullmq|ioredis)/' },
    },
    {
      name: 'queue-does-not-know-postgres',
      severity: 'error',
      from: { path: '^packages/queue/' },
      to: { path: '^node_modules/(pg|kysely)/' },
    },
    ...Object.entries(arrows).map(([name, may]) => ({
      name: `${name}-imports-only-${may.join('-and-') || 'itself'}`,
      severity: 'error',
      from: { path: `^packages/${name}/src`, pathNot: '[.]test[.]ts$' },
      to: { path: '^packages/', pathNot: [name, ...may].map((p) => `^packages/${p}/`) },
    })),
    {
      name: 'cli-asks-the-api',
      severity: 'error',
      from: { path: '^packages/cli/src', pathNot: '^packages/cli/src/doctor/look-directly[.]ts$' },
      to: { path: '^packages/(queue|db)/' },
    },
    {
      name: 'packages-do-not-know-services',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^services/' },
    },
    {
      name: 'services-do-not-know-each-other',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'front-door-only',
      severity: 'error',
      from: { path: '^(packages|services)/([^/]+)/' },
      to: {
        path: '^packages/[^/]+/src/',
        pathNot: ['^$1/$2/', '^packages/[^/]+/src/index[.]ts$', SDK_DOORS],
      },
    },
    {
      name: 'no-test-code-in-production',
      severity: 'error',
      from: { path: '/src/', pathNot: ['^packages/testkit/', '[.]test[.]ts$'] },
      to: { path: ['[.]test[.]ts$', '^packages/testkit/'] },
    },
    {
      name: 'no-dev-dependency-in-production',
      severity: 'error',
      from: { path: '^(packages|services)/[^/]+/src', pathNot: '[.]test[.]ts$' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js'],
    },
  },
}
