export interface MigrateOptions {
  url: string
  schema: string
  now: Date
}

/** Brings the schema up to date over a direct connection. Returns the names of the migrations it ran. */
export async function migrate(_options: MigrateOptions): Promise<string[]> {
  throw new Error('migrate')
}
