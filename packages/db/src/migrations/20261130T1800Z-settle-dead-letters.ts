import { type Kysely, type Migration, sql } from 'kysely'

/** What was decided about dead letters, and what carries out decisions about many. */
export const settleDeadLetters: Migration = {
  async up(db: Kysely<unknown>) {
    await createSettledLetters(db)
    await createRedrives(db)
  },
}

/** Apart from the runs, since it may be heard of before the run's row is there. */
async function createSettledLetters(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE settled_letters (
      run_id uuid NOT NULL,
      settled_at timestamptz NOT NULL,
      settled_by text NOT NULL,
      redriven_as uuid,
      discard_reason text,
      redrive_id uuid,
      recorded_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT settled_letters_pkey PRIMARY KEY (run_id),
      CONSTRAINT settled_letters_are_redriven_or_discarded CHECK
        ((redriven_as IS NULL) <> (discard_reason IS NULL))
    )`.execute(db)
  // Serves countRedriven() and findReturned().
  await sql`CREATE INDEX settled_letters_redrive_idx ON settled_letters (redrive_id)
    WHERE redrive_id IS NOT NULL`.execute(db)
}

async function createRedrives(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE redrives (
      id uuid NOT NULL,
      state text NOT NULL,
      filter jsonb NOT NULL,
      rate double precision,
      canary boolean NOT NULL,
      step integer NOT NULL DEFAULT 0,
      canary_letters uuid[] NOT NULL DEFAULT '{}',
      letters integer NOT NULL,
      refused integer NOT NULL DEFAULT 0,
      problem text,
      returned_run uuid,
      returned_fingerprint text,
      author text NOT NULL,
      created_at timestamptz NOT NULL,
      finished_at timestamptz,
      CONSTRAINT redrives_pkey PRIMARY KEY (id),
      CONSTRAINT redrives_state_is_known CHECK
        (state IN ('running', 'paused', 'cancelled', 'stopped', 'done')),
      CONSTRAINT redrives_finished_iff_ended CHECK
        ((state IN ('cancelled', 'stopped', 'done')) = (finished_at IS NOT NULL)),
      CONSTRAINT redrives_stopped_by_a_run CHECK ((state = 'stopped') = (returned_run IS NOT NULL))
    )`.execute(db)
  // Serves listRunningRedrives().
  await sql`CREATE INDEX redrives_running_idx ON redrives (created_at)
    WHERE state = 'running'`.execute(db)
  // Serves listRedrives().
  await sql`CREATE INDEX redrives_created_idx ON redrives (created_at, id)`.execute(db)
}
