import {
  IdentifierNode,
  type Kysely,
  type KyselyPlugin,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryResult,
  type RootOperationNode,
  type SchemableIdentifierNode,
  type UnknownRow,
} from 'kysely'
import type { Database } from './database.ts'

/** Our tables and their partitions; the names of CTEs and aliases must not look like these. */
const OURS =
  /^(runs|attempts|leader_terms|schedules|schedule_(versions|revision|pauses)|calendars|calendar_revisions|backfills|settled_letters|redrives|audit_log|tokens|runs_kept|attempts_kept|job_retentions|run_stats|alert_(rules|channels|silences|states))(_\w+)?$/

/**
 * Puts the schema before the names of our tables, in the builder and in `sql.table()` alike (kysely's
 * own `withSchema` leaves raw SQL alone). A `search_path` would not survive PgBouncer.
 */
export class SchemaPlugin implements KyselyPlugin {
  readonly schema: string
  readonly #transformer: SchemaTransformer

  constructor(schema: string) {
    this.schema = schema
    this.#transformer = new SchemaTransformer(schema)
  }

  transformQuery(args: PluginTransformQueryArgs): RootOperationNode {
    return this.#transformer.transformNode(args.node, args.queryId)
  }

  transformResult(args: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return Promise.resolve(args.result)
  }
}

/** The schema of a database that `openDatabase` opened: for what asks Postgres' own catalogue. */
export function schemaOf(db: Kysely<Database>): string {
  const plugin = db.getExecutor().plugins.find((each) => each instanceof SchemaPlugin)
  if (!plugin) throw new Error('no database that openDatabase has opened')
  return plugin.schema
}

class SchemaTransformer extends OperationNodeTransformer {
  readonly #schema: string

  constructor(schema: string) {
    super()
    this.#schema = schema
  }

  protected override transformSchemableIdentifier(
    node: SchemableIdentifierNode,
  ): SchemableIdentifierNode {
    const name = node.identifier.name
    if (node.schema || !OURS.test(name)) return node
    return { ...node, schema: IdentifierNode.create(this.#schema) }
  }
}
