import { createHmac } from 'node:crypto'

/**
 * `t=<unix seconds>,v1=<hex>`: HMAC-SHA256 over `<t>.<body>`. The receiver computes the same and
 * refuses a time that is minutes off, so that a request that was overheard can't be sent again later.
 */
export function signature(secret: string, body: string, at: Date): string {
  const t = Math.floor(at.getTime() / 1_000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
}
