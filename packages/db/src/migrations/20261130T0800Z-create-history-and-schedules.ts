import { type Kysely, type Migration, sql } from 'kysely'

/** Names are found through the search_path of the connection that migrates. */
export const createHistoryAndSchedules: Migration = {
  async up(db: Kysely<unknown>) {
    await createRuns(db)
    await createAttempts(db)
    await createLeaderTerms(db)
    await createSchedules(db)
  },
}

async function createRuns(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE runs (
      id uuid NOT NULL,
      revision integer NOT NULL,
      state text NOT NULL,
      reason text,
      job text NOT NULL,
      queue text NOT NULL,
      schedule_id uuid,
      schedule text,
      tick_at timestamptz,
      tick_until timestamptz,
      tick_count integer,
      term bigint,
      payload jsonb,
      labels jsonb,
      priority integer,
      enqueued_at timestamptz NOT NULL,
      run_at timestamptz,
      attempt integer NOT NULL,
      worker text,
      started_at timestamptz,
      finished_at timestamptz,
      result jsonb,
      error jsonb,
      redrive_of uuid,
      recorded_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT runs_pkey PRIMARY KEY (id),
      CONSTRAINT runs_state_is_known CHECK
        (state IN ('queued', 'running', 'retrying', 'succeeded', 'dead', 'cancelled', 'skipped')),
      CONSTRAINT runs_finished_iff_ended CHECK
        ((state IN ('succeeded', 'dead', 'cancelled', 'skipped')) = (finished_at IS NOT NULL)),
      CONSTRAINT runs_skipped_has_a_reason CHECK (state <> 'skipped' OR reason IS NOT NULL),
      CONSTRAINT runs_attempt_is_not_negative CHECK (attempt >= 0)
    ) PARTITION BY RANGE (id)`.execute(db)
  // What belongs to no day that has a partition: enqueued long ago and finished now, or far ahead.
  await sql`CREATE TABLE runs_default PARTITION OF runs DEFAULT`.execute(db)
  // Serves listRuns() with a schedule.
  await sql`CREATE INDEX runs_schedule_idx ON runs (schedule_id, id)
    WHERE schedule_id IS NOT NULL`.execute(db)
  // Serves listRuns() with a job.
  await sql`CREATE INDEX runs_job_idx ON runs (job, id)`.execute(db)
  // Serves listRuns() with a queue.
  await sql`CREATE INDEX runs_queue_idx ON runs (queue, id)`.execute(db)
  // Serves listRuns() with a state. Most runs have succeeded, so that state needs no index.
  await sql`CREATE INDEX runs_state_idx ON runs (state, id) WHERE state <> 'succeeded'`.execute(db)
  // Serves listUnfinishedRuns(): small, because only rows that have not ended are in it.
  await sql`CREATE INDEX runs_unfinished_idx ON runs (id) WHERE finished_at IS NULL`.execute(db)
  // Serves listRuns() with labels.
  await sql`CREATE INDEX runs_labels_idx ON runs USING gin (labels jsonb_path_ops)
    WHERE labels IS NOT NULL`.execute(db)
  // Serves listRuns() with words to search for.
  await sql`CREATE INDEX runs_error_words_idx ON runs
    USING gin (to_tsvector('simple', error ->> 'message')) WHERE error IS NOT NULL`.execute(db)
}

async function createAttempts(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE attempts (
      run_id uuid NOT NULL,
      attempt integer NOT NULL,
      state text NOT NULL,
      worker text,
      started_at timestamptz,
      finished_at timestamptz,
      error jsonb,
      recorded_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT attempts_pkey PRIMARY KEY (run_id, attempt),
      CONSTRAINT attempts_state_is_known CHECK
        (state IN ('running', 'succeeded', 'failed', 'drained', 'lost')),
      CONSTRAINT attempts_count_from_one CHECK (attempt >= 1)
    ) PARTITION BY RANGE (run_id)`.execute(db)
  await sql`CREATE TABLE attempts_default PARTITION OF attempts DEFAULT`.execute(db)
}

async function createLeaderTerms(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE leader_terms (
      term bigint NOT NULL,
      instance text NOT NULL,
      from_at timestamptz NOT NULL,
      until_at timestamptz,
      reason text,
      CONSTRAINT leader_terms_pkey PRIMARY KEY (term),
      CONSTRAINT leader_terms_reason_is_known CHECK (reason IN ('released', 'expired'))
    )`.execute(db)
}

async function createSchedules(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE schedules (
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      name text NOT NULL,
      source text NOT NULL,
      revision bigint NOT NULL,
      created_at timestamptz NOT NULL,
      changed_at timestamptz NOT NULL,
      deleted_at timestamptz,
      CONSTRAINT schedules_pkey PRIMARY KEY (id),
      CONSTRAINT schedules_name_is_unique UNIQUE (name),
      CONSTRAINT schedules_source_is_known CHECK (source IN ('file', 'api'))
    )`.execute(db)
  // Serves loadSchedules() with a revision.
  await sql`CREATE INDEX schedules_revision_idx ON schedules (revision)`.execute(db)
  await sql`
    CREATE TABLE schedule_versions (
      schedule_id uuid NOT NULL,
      version integer NOT NULL,
      spec jsonb NOT NULL,
      author text NOT NULL,
      from_at timestamptz NOT NULL,
      until_at timestamptz,
      CONSTRAINT schedule_versions_pkey PRIMARY KEY (schedule_id, version),
      CONSTRAINT schedule_versions_belong_to_a_schedule FOREIGN KEY (schedule_id)
        REFERENCES schedules (id),
      CONSTRAINT schedule_versions_end_after_they_begin CHECK (until_at >= from_at)
    )`.execute(db)
  // Serves listSchedules() and applySchedules(), and states that one version at most is in force.
  await sql`CREATE UNIQUE INDEX schedule_versions_one_is_in_force_idx
    ON schedule_versions (schedule_id) WHERE until_at IS NULL`.execute(db)
  await sql`
    CREATE TABLE schedule_revision (
      only_row boolean NOT NULL DEFAULT true,
      revision bigint NOT NULL,
      CONSTRAINT schedule_revision_pkey PRIMARY KEY (only_row),
      CONSTRAINT schedule_revision_is_one_row CHECK (only_row)
    )`.execute(db)
  await sql`INSERT INTO schedule_revision (revision) VALUES (0)`.execute(db)
}
