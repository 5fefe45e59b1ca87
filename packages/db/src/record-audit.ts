import { type RawBuilder, sql } from 'kysely'

/** Entries of the audit log, from facts of the kind `audit`. What came of an act is never forgotten again. */
export function upsertAudit(): RawBuilder<unknown> {
  return sql`
    INSERT INTO ${sql.table('audit_log')} AS l
      (id, at, actor, role, came_by, token_id, address, request_id, action, subject, request, status,
        ended_at, before, after)
    SELECT DISTINCT ON (id) id, (audit ->> 'at')::timestamptz, audit ->> 'actor', audit ->> 'role',
      audit ->> 'came_by', (audit ->> 'token_id')::uuid, audit ->> 'address', audit ->> 'request_id',
      audit ->> 'action', audit ->> 'subject', (audit -> 'request')::jsonb,
      (audit ->> 'status')::integer, (audit ->> 'ended_at')::timestamptz,
      (audit -> 'before')::jsonb, (audit -> 'after')::jsonb
    FROM fact WHERE kind = 'audit'
    ORDER BY id, (audit ->> 'status') IS NULL
    ON CONFLICT (id) DO UPDATE SET subject = excluded.subject, status = excluded.status,
      ended_at = excluded.ended_at, before = excluded.before, after = excluded.after,
      recorded_at = now()
    WHERE l.status IS NULL AND excluded.status IS NOT NULL
    RETURNING 1`
}
