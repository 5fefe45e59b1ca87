import { type Kysely, type Migration, sql } from 'kysely'

/** Rules that there are from the start. They tell the channels that are marked `default`, of which there are none yet. */
const DEFAULT_RULES = [
  ['dead-letters', 'dead-letter', 'A run has died, and nobody has redriven or discarded it.'],
  ['late-ticks', 'late-tick', 'A tick has not succeeded by the time that its schedule gives it.'],
  [
    'missed-ticks',
    'missed-tick',
    'A tick got no run, since it was too late or nobody served its job.',
  ],
  ['failure-rate', 'failure-rate', 'Half of the runs of a job die.'],
  ['oldest-waiting', 'oldest-waiting', 'A run has been waiting for 15 minutes.'],
  ['no-leader', 'no-leader', 'No scheduler leads: nothing is fired.'],
  ['no-worker', 'no-worker', 'Runs wait in a queue that no worker serves.'],
  ['outbox', 'outbox', 'Facts do not reach the history.'],
  ['fuse-open', 'fuse-open', 'The fuse of a job is open: its runs are parked.'],
  ['rejected-facts', 'rejected-facts', 'Postgres refused facts of runs.'],
] as const

export const createAlerts: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`
      CREATE TABLE alert_rules (
        name text NOT NULL,
        spec jsonb NOT NULL,
        author text NOT NULL,
        revision integer NOT NULL,
        changed_at timestamptz NOT NULL,
        -- What happened before this instant was looked at.
        seen_until timestamptz,
        CONSTRAINT alert_rules_pkey PRIMARY KEY (name)
      )`.execute(db)
    await sql`
      CREATE TABLE alert_channels (
        name text NOT NULL,
        spec jsonb NOT NULL,
        author text NOT NULL,
        revision integer NOT NULL,
        changed_at timestamptz NOT NULL,
        CONSTRAINT alert_channels_pkey PRIMARY KEY (name)
      )`.execute(db)
    await sql`
      CREATE TABLE alert_silences (
        name text NOT NULL,
        spec jsonb NOT NULL,
        author text NOT NULL,
        revision integer NOT NULL,
        changed_at timestamptz NOT NULL,
        until_at timestamptz NOT NULL,
        CONSTRAINT alert_silences_pkey PRIMARY KEY (name)
      )`.execute(db)
    // Serves loadAlertConfig() and deleteOldAlerts().
    await sql`CREATE INDEX alert_silences_until_idx ON alert_silences (until_at)`.execute(db)
    await sql`
      CREATE TABLE alert_states (
        id uuid NOT NULL,
        rule text NOT NULL,
        group_key text NOT NULL,
        since timestamptz NOT NULL,
        changed_at timestamptz NOT NULL,
        last_sent_at timestamptz,
        sent integer NOT NULL,
        count integer NOT NULL,
        closed_at timestamptz,
        state jsonb NOT NULL,
        CONSTRAINT alert_states_pkey PRIMARY KEY (id)
      )`.execute(db)
    // Serves listAlerts().
    await sql`CREATE INDEX alert_states_since_idx ON alert_states (since, id)`.execute(db)
    // Serves listUnfinishedAlerts(): small, because only alerts of which something is left to be told are in it.
    await sql`CREATE INDEX alert_states_unfinished_idx ON alert_states (id)
      WHERE closed_at IS NULL`.execute(db)
    for (const [name, kind, description] of DEFAULT_RULES)
      await sql`
        INSERT INTO alert_rules (name, spec, author, revision, changed_at)
        VALUES (${name}, ${JSON.stringify({ kind, description })}::jsonb, 'jadwal', 1, now())
      `.execute(db)
  },
}
