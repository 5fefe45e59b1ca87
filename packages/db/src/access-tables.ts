import type { Role } from '@jadwal/domain'
import type { Generated, Selectable } from 'kysely'

/** A token that lets somebody in, until it expires or is revoked. */
export interface TokenTable {
  id: string
  name: string
  /** SHA-256 of the token, which is nowhere else. */
  hash: Buffer
  role: Role
  created_by: string
  created_at: Date
  expires_at: Date | null
  /** To the minute. */
  last_used_at: Date | null
  revoked_at: Date | null
  revoked_by: string | null
}
export type TokenRow = Selectable<TokenTable>

/** An entry of the audit log. Written by `recordFacts` alone. */
export interface AuditTable {
  /** A UUIDv7: the order of ids is that of time. */
  id: string
  at: Date
  actor: string
  role: Role
  came_by: string
  token_id: string | null
  address: string | null
  request_id: string | null
  action: string
  subject: string | null
  request: unknown
  /** The HTTP status of the answer; null when nobody knows how it ended. */
  status: number | null
  ended_at: Date | null
  before: unknown
  after: unknown
  recorded_at: Generated<Date>
}
export type AuditRow = Selectable<AuditTable>
