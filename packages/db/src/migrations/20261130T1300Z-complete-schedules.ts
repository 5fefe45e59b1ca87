import { type Kysely, type Migration, sql } from 'kysely'

/** Pauses, calendars, backfills, late ticks, and who changed a schedule and why. */
export const completeSchedules: Migration = {
  async up(db: Kysely<unknown>) {
    await extendHistory(db)
    await extendVersions(db)
    await createPauses(db)
    await createCalendars(db)
    await createBackfills(db)
  },
}

async function extendHistory(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE runs
      ADD COLUMN backfill_id uuid,
      ADD COLUMN late_due_at timestamptz,
      ADD COLUMN late_at timestamptz`.execute(db)
  await sql`
    ALTER TABLE leader_terms DROP CONSTRAINT leader_terms_reason_is_known,
      ADD CONSTRAINT leader_terms_reason_is_known CHECK
        (reason IN ('released', 'stepped-down', 'untrusted', 'stalled', 'expired'))`.execute(db)
}

async function extendVersions(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE schedule_versions
      ADD COLUMN reason text,
      ADD COLUMN calendars jsonb NOT NULL DEFAULT '{}'`.execute(db)
}

async function createPauses(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE schedule_pauses (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      schedule_id uuid,
      from_at timestamptz NOT NULL,
      until_at timestamptz,
      reason text,
      author text NOT NULL,
      resumed_by text,
      CONSTRAINT schedule_pauses_pkey PRIMARY KEY (id),
      CONSTRAINT schedule_pauses_belong_to_a_schedule FOREIGN KEY (schedule_id)
        REFERENCES schedules (id),
      CONSTRAINT schedule_pauses_end_after_they_begin CHECK (until_at >= from_at)
    )`.execute(db)
  // Serves loadSchedules() and listPauses(). Without a schedule: a pause of everything.
  await sql`CREATE INDEX schedule_pauses_schedule_idx ON schedule_pauses (schedule_id, from_at)`.execute(
    db,
  )
}

async function createCalendars(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE calendars (
      name text NOT NULL,
      spec jsonb NOT NULL,
      source text NOT NULL,
      author text NOT NULL,
      changed_at timestamptz NOT NULL,
      CONSTRAINT calendars_pkey PRIMARY KEY (name),
      CONSTRAINT calendars_source_is_known CHECK (source IN ('file', 'api'))
    )`.execute(db)
  await sql`
    CREATE TABLE calendar_revisions (
      hash text NOT NULL,
      spec jsonb NOT NULL,
      CONSTRAINT calendar_revisions_pkey PRIMARY KEY (hash)
    )`.execute(db)
}

async function createBackfills(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE backfills (
      id uuid NOT NULL,
      schedule_id uuid NOT NULL,
      from_at timestamptz NOT NULL,
      until_at timestamptz NOT NULL,
      state text NOT NULL,
      all_ticks boolean NOT NULL,
      rate double precision,
      concurrency integer NOT NULL,
      spec jsonb NOT NULL,
      calendars jsonb NOT NULL,
      queue text NOT NULL,
      ticks integer NOT NULL,
      skipped integer NOT NULL DEFAULT 0,
      enqueued integer NOT NULL DEFAULT 0,
      position_at timestamptz,
      problem text,
      author text NOT NULL,
      created_at timestamptz NOT NULL,
      finished_at timestamptz,
      cleaned_at timestamptz,
      CONSTRAINT backfills_pkey PRIMARY KEY (id),
      CONSTRAINT backfills_belong_to_a_schedule FOREIGN KEY (schedule_id)
        REFERENCES schedules (id),
      CONSTRAINT backfills_state_is_known CHECK
        (state IN ('running', 'paused', 'cancelled', 'done')),
      CONSTRAINT backfills_finished_iff_ended CHECK
        ((state IN ('cancelled', 'done')) = (finished_at IS NOT NULL)),
      CONSTRAINT backfills_cleaned_after_the_end CHECK
        (cleaned_at IS NULL OR finished_at IS NOT NULL)
    )`.execute(db)
  // Serves listActiveBackfills(): small, because those that the leader is done with are not in it.
  await sql`CREATE INDEX backfills_active_idx ON backfills (created_at)
    WHERE cleaned_at IS NULL`.execute(db)
  // Serves listBackfills().
  await sql`CREATE INDEX backfills_created_idx ON backfills (created_at, id)`.execute(db)
  // Serves listBackfills() of a schedule.
  await sql`CREATE INDEX backfills_schedule_idx ON backfills (schedule_id, created_at)`.execute(db)
}
