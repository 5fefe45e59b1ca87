import { type Kysely, type Migration, sql } from 'kysely'

/** Who did what to what. Ids are UUIDv7, so that their order is that of time. */
export const createAuditLog: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`
      CREATE TABLE audit_log (
        id uuid NOT NULL,
        at timestamptz NOT NULL,
        actor text NOT NULL,
        role text NOT NULL,
        came_by text NOT NULL,
        token_id uuid,
        address text,
        request_id text,
        action text NOT NULL,
        subject text,
        request jsonb,
        status integer,
        ended_at timestamptz,
        before jsonb,
        after jsonb,
        recorded_at timestamptz NOT NULL DEFAULT now(),
        -- Serves listAudit() without a filter, by time, and deleteOldAudit().
        CONSTRAINT audit_log_pkey PRIMARY KEY (id),
        CONSTRAINT audit_log_has_a_status_iff_ended CHECK ((status IS NULL) = (ended_at IS NULL))
      )`.execute(db)
    // Serve listAudit() by actor, by action and by subject.
    await sql`CREATE INDEX audit_log_actor_idx ON audit_log (actor, id)`.execute(db)
    await sql`CREATE INDEX audit_log_action_idx ON audit_log (action, id)`.execute(db)
    await sql`CREATE INDEX audit_log_subject_idx ON audit_log (subject, id)
      WHERE subject IS NOT NULL`.execute(db)
  },
}
