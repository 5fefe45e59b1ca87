import type { ColumnType, Selectable } from 'kysely'

/** What somebody has set about alerts: a rule, a channel, or a silence. */
export interface AlertSettingTable {
  name: string
  /** As it was checked, with defaults filled in. */
  spec: ColumnType<Record<string, unknown>, string, string>
  author: string
  revision: number
  changed_at: Date
}
export type AlertSettingRow = Selectable<AlertSettingTable>

export interface AlertRuleTable extends AlertSettingTable {
  seen_until: Date | null
}

export interface AlertSilenceTable extends AlertSettingTable {
  until_at: Date
}

/** Alerts that are open or were; the columns beside `state` are what is asked for. */
export interface AlertStateTable {
  id: string
  rule: string
  group_key: string
  since: Date
  changed_at: Date
  last_sent_at: Date | null
  sent: number
  count: number
  /** Null also while its end is left to be told. */
  closed_at: Date | null
  state: ColumnType<unknown, string, string>
}
