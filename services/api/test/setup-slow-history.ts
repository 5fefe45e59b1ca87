import type { Db } from '@jadwal/db'
import type { UnknownRow } from 'kysely'

/**
 * The same database, where each answer first waits for `wait`. `isOfRule`: of the statements by which rules
 * look for what happened, which are those written as SQL; `text` is the statement with its parameters.
 */
export function slowHistory(
  db: Db,
  wait: (statement: { isOfRule: boolean; text: string }) => Promise<unknown>,
): Db {
  const asked = new WeakMap<object, { isOfRule: boolean; text: string }>()
  return db.withPlugin({
    transformQuery({ node, queryId }) {
      asked.set(queryId, { isOfRule: node.kind === 'RawNode', text: JSON.stringify(node) })
      return node
    },
    async transformResult({ result, queryId }): Promise<{ rows: UnknownRow[] }> {
      await wait(asked.get(queryId) ?? { isOfRule: false, text: '' })
      return result
    },
  })
}
