const UNDEFINED_TABLE = '42P01'

/** Does again what met a partition that was dropped between being listed and being read. */
export async function onceMoreIfDropped<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isDropped(error)) throw error
    return await work()
  }
}

/** Does something with a partition; undefined when somebody has dropped it meanwhile. */
export async function unlessDropped<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isDropped(error)) return undefined
    throw error
  }
}

function isDropped(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE
}
