import type { Migration } from 'kysely'
import { createHistoryAndSchedules } from './20261130T0800Z-create-history-and-schedules.ts'
import { completeSchedules } from './20261130T1300Z-complete-schedules.ts'
import { sayWhoDeletesSchedules } from './20261130T1400Z-say-who-deletes-schedules.ts'
import { letAttemptsBeCancelled } from './20261130T1500Z-let-attempts-be-cancelled.ts'
import { checkOldAttempts } from './20261130T1510Z-check-old-attempts.ts'
import { indexLateTicks } from './20261130T1520Z-index-late-ticks.ts'
import { indexBackfilledRuns } from './20261130T1530Z-index-backfilled-runs.ts'
import { completeRuns } from './20261130T1700Z-complete-runs.ts'
import { indexChildren } from './20261130T1710Z-index-children.ts'
import { settleDeadLetters } from './20261130T1800Z-settle-dead-letters.ts'
import { indexDeadRuns } from './20261130T1810Z-index-dead-runs.ts'
import { indexFingerprints } from './20261130T1820Z-index-fingerprints.ts'
import { indexRedrivesRuns } from './20261130T1830Z-index-redrives-runs.ts'
import { letRedrivesBeUncounted } from './20261130T1840Z-let-redrives-be-uncounted.ts'
import { createTokens } from './20261130T2100Z-create-tokens.ts'
import { createAuditLog } from './20261130T2101Z-create-audit-log.ts'
import { addSearchText } from './20261130T2110Z-add-search-text.ts'
import { indexSearchText } from './20261130T2111Z-index-search-text.ts'
import { indexRunsByJobAndState } from './20261130T2112Z-index-runs-by-job-and-state.ts'
import { indexRunsByQueueAndState } from './20261130T2113Z-index-runs-by-queue-and-state.ts'
import { dropCoveredIndexes } from './20261130T2114Z-drop-covered-indexes.ts'
import { indexRunsByKeyAndError } from './20261130T2115Z-index-runs-by-key-and-error.ts'
import { keepRunsOfJobs } from './20261130T2116Z-keep-runs-of-jobs.ts'
import { withdrawRetentions } from './20261130T2117Z-withdraw-retentions.ts'
import { countEndsOnce } from './20261130T2120Z-count-ends-once.ts'
import { createRunStats } from './20261130T2121Z-create-run-stats.ts'
import { createAlerts } from './20261130T2140Z-create-alerts.ts'
import { indexLateRuns } from './20261130T2141Z-index-late-runs.ts'
import { indexMissedTicks } from './20261130T2142Z-index-missed-ticks.ts'
import { indexRunsByJobQueueAndState } from './20261130T2350Z-index-runs-by-job-queue-and-state.ts'
import { dropRunsByJobAndState } from './20261130T2351Z-drop-runs-by-job-and-state.ts'
import { indexWordsWithFilters } from './20261130T2352Z-index-words-with-filters.ts'
import { indexSchedulesWithFilters } from './20261130T2353Z-index-schedules-with-filters.ts'
import { dropIndexesWithoutFilters } from './20261130T2354Z-drop-indexes-without-filters.ts'

/**
 * One line a migration, oldest first, each in a transaction of its own: what locks a large table is not
 * in one with what reads it all. A migration that was released is never changed again.
 */
export const migrations: Record<string, Migration> = {
  '20261130T0800Z-create-history-and-schedules': createHistoryAndSchedules,
  '20261130T1300Z-complete-schedules': completeSchedules,
  '20261130T1400Z-say-who-deletes-schedules': sayWhoDeletesSchedules,
  '20261130T1500Z-let-attempts-be-cancelled': letAttemptsBeCancelled,
  '20261130T1510Z-check-old-attempts': checkOldAttempts,
  '20261130T1520Z-index-late-ticks': indexLateTicks,
  '20261130T1530Z-index-backfilled-runs': indexBackfilledRuns,
  '20261130T1700Z-complete-runs': completeRuns,
  '20261130T1710Z-index-children': indexChildren,
  '20261130T1800Z-settle-dead-letters': settleDeadLetters,
  '20261130T1810Z-index-dead-runs': indexDeadRuns,
  '20261130T1820Z-index-fingerprints': indexFingerprints,
  '20261130T1830Z-index-redrives-runs': indexRedrivesRuns,
  '20261130T1840Z-let-redrives-be-uncounted': letRedrivesBeUncounted,
  '20261130T2100Z-create-tokens': createTokens,
  '20261130T2101Z-create-audit-log': createAuditLog,
  '20261130T2110Z-add-search-text': addSearchText,
  '20261130T2111Z-index-search-text': indexSearchText,
  '20261130T2112Z-index-runs-by-job-and-state': indexRunsByJobAndState,
  '20261130T2113Z-index-runs-by-queue-and-state': indexRunsByQueueAndState,
  '20261130T2114Z-drop-covered-indexes': dropCoveredIndexes,
  '20261130T2115Z-index-runs-by-key-and-error': indexRunsByKeyAndError,
  '20261130T2116Z-keep-runs-of-jobs': keepRunsOfJobs,
  '20261130T2117Z-withdraw-retentions': withdrawRetentions,
  '20261130T2120Z-count-ends-once': countEndsOnce,
  '20261130T2121Z-create-run-stats': createRunStats,
  '20261130T2140Z-create-alerts': createAlerts,
  '20261130T2141Z-index-late-runs': indexLateRuns,
  '20261130T2142Z-index-missed-ticks': indexMissedTicks,
  '20261130T2350Z-index-runs-by-job-queue-and-state': indexRunsByJobQueueAndState,
  '20261130T2351Z-drop-runs-by-job-and-state': dropRunsByJobAndState,
  '20261130T2352Z-index-words-with-filters': indexWordsWithFilters,
  '20261130T2353Z-index-schedules-with-filters': indexSchedulesWithFilters,
  '20261130T2354Z-drop-indexes-without-filters': dropIndexesWithoutFilters,
}
