import {
  type AlertChannel,
  AlertChannelSpec,
  type AlertRule,
  AlertRuleSpec,
  AlertSilenceSpec,
} from '@jadwal/domain'
import type { z } from 'zod'
import type { Db } from './database.ts'

/** What the evaluation of alerts goes by. */
export interface AlertConfig {
  /** `seenUntil`: what happened before was looked at. */
  rules: (AlertRule & { seenUntil: Date | null })[]
  channels: AlertChannel[]
  silences: { name: string; spec: AlertSilenceSpec }[]
}

/** More of a kind are not looked at. */
const MOST = 1_000

/** All rules and channels, and the silences that have not ended. What this version can't read is left out. */
export async function loadAlertConfig(db: Db, now: Date): Promise<AlertConfig> {
  const rules = await db.selectFrom('alert_rules').selectAll().orderBy('name').limit(MOST).execute()
  const channels = await db
    .selectFrom('alert_channels')
    .selectAll()
    .orderBy('name')
    .limit(MOST)
    .execute()
  const silences = await db
    .selectFrom('alert_silences')
    .selectAll()
    .where('until_at', '>', now)
    .orderBy('until_at')
    .limit(MOST)
    .execute()
  return {
    rules: rules.flatMap(({ name, spec, seen_until: seenUntil }) =>
      readable(AlertRuleSpec, spec).map((read) => ({ name, spec: read, seenUntil })),
    ),
    channels: channels.flatMap(({ name, spec }) =>
      readable(AlertChannelSpec, spec).map((read) => ({ name, spec: read })),
    ),
    silences: silences.flatMap(({ name, spec }) =>
      readable(AlertSilenceSpec, spec).map((read) => ({ name, spec: read })),
    ),
  }
}

function readable<T>(schema: z.ZodType<T>, spec: unknown): T[] {
  const read = schema.safeParse(spec)
  return read.success ? [read.data] : []
}

/** Notes that what happened before `seenUntil` was looked at, by these rules. */
export async function noteSeen(db: Db, rules: readonly string[], seenUntil: Date): Promise<void> {
  if (rules.length === 0) return
  await db
    .updateTable('alert_rules')
    .set({ seen_until: seenUntil })
    .where('name', 'in', [...rules])
    .execute()
}
