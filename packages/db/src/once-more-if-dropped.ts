const UNDEFINED_TABLE = '42P01'

/** Does again what met a partition that was dropped between being listed and being read. */
export async function onceMoreIfDropped<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE)) throw error
    return await work()
  }
}
