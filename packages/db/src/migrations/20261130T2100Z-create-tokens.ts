import { type Kysely, type Migration, sql } from 'kysely'

/** Tokens that let programs and people in. What they are is not here, only what they hash to. */
export const createTokens: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`
      CREATE TABLE tokens (
        id uuid NOT NULL,
        name text NOT NULL,
        hash bytea NOT NULL,
        role text NOT NULL,
        created_by text NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz,
        last_used_at timestamptz,
        revoked_at timestamptz,
        revoked_by text,
        CONSTRAINT tokens_pkey PRIMARY KEY (id),
        CONSTRAINT tokens_hash_is_of_one UNIQUE (hash),
        CONSTRAINT tokens_hash_is_sha256 CHECK (octet_length(hash) = 32),
        CONSTRAINT tokens_role_is_known CHECK (role IN ('viewer', 'operator', 'admin')),
        CONSTRAINT tokens_expire_after_they_are_made CHECK (expires_at > created_at),
        CONSTRAINT tokens_are_revoked_by_somebody CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
      )`.execute(db)
    // Keeps names apart, and serves listLiveTokens() and createToken().
    await sql`CREATE UNIQUE INDEX tokens_name_of_unrevoked_idx ON tokens (name)
      WHERE revoked_at IS NULL`.execute(db)
  },
}
