import { type Kysely, type Migration, sql } from 'kysely'

/** The statistics of runs: what recorders append, and what the leader folds it into. */
export const createRunStats: Migration = {
  async up(db: Kysely<unknown>) {
    await createDeltas(db)
    await createStats(db)
    await createState(db)
  },
}

/** Only ever inserted and deleted, so that recorders never wait for each other. */
async function createDeltas(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE run_stats_deltas (
      minute timestamptz NOT NULL,
      job text NOT NULL,
      queue text NOT NULL,
      schedule_id uuid,
      succeeded integer NOT NULL,
      dead integer NOT NULL,
      cancelled integer NOT NULL,
      retries integer NOT NULL,
      waits smallint[] NOT NULL,
      durations smallint[] NOT NULL
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`.execute(db)
}

async function createStats(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE run_stats (
      schedule_id uuid,
      step text NOT NULL,
      at timestamptz NOT NULL,
      queue text NOT NULL,
      job text NOT NULL,
      succeeded integer NOT NULL,
      dead integer NOT NULL,
      cancelled integer NOT NULL,
      retries integer NOT NULL,
      wait_buckets smallint[] NOT NULL,
      wait_counts integer[] NOT NULL,
      duration_buckets smallint[] NOT NULL,
      duration_counts integer[] NOT NULL,
      CONSTRAINT run_stats_step_is_known CHECK (step IN ('minute', 'hour', 'day'))
    ) WITH (fillfactor = 70)`.execute(db)
  // Serves runStats() and foldRunStats(). Without a schedule a row is of all runs of its job.
  await sql`CREATE UNIQUE INDEX run_stats_one_row_idx
    ON run_stats (schedule_id, step, at, queue, job) NULLS NOT DISTINCT`.execute(db)
  // Serves deleteOldStats().
  await sql`CREATE INDEX run_stats_age_idx ON run_stats (step, at)`.execute(db)
}

async function createState(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE run_stats_state (
      only_row boolean NOT NULL DEFAULT true,
      counted_from timestamptz NOT NULL,
      CONSTRAINT run_stats_state_pkey PRIMARY KEY (only_row),
      CONSTRAINT run_stats_state_is_one_row CHECK (only_row)
    )`.execute(db)
  await sql`INSERT INTO run_stats_state (counted_from) VALUES ('-infinity')`.execute(db)
}
