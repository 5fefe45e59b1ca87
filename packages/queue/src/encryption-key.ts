/** A key of AES-256, by a name that envelopes carry. */
export interface EncryptionKey {
  id: string
  /** 32 bytes. */
  secret: Buffer
}
