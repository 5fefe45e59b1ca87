import { type Kysely, type Migration, sql } from 'kysely'

/** A new end of attempts. What is stored already is not looked at, so nobody waits for the history to be read. */
export const letAttemptsBeCancelled: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`
      ALTER TABLE attempts DROP CONSTRAINT attempts_state_is_known,
        ADD CONSTRAINT attempts_state_is_known CHECK
          (state IN ('running', 'succeeded', 'failed', 'drained', 'lost', 'cancelled'))
          NOT VALID`.execute(db)
  },
}
