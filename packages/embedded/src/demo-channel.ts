/** The channel by which `npm start` tells of alerts: mails into the folder of its mail sink. */
const NAME = 'demo-mail'
const WITHIN_MS = 10_000

/**
 * Makes the channel of the demo where there is no channel yet, so that alerts are seen to arrive. True when
 * it was made. `api` is the address of the api.
 */
export async function makeDemoChannel(api: string, token: string): Promise<boolean> {
  const channels = `${api}/api/v1/alerts/channels`
  const request = {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(WITHIN_MS),
  }
  const listed = await fetch(`${channels}?limit=1`, request)
  const { items = [] } = (await listed.json()) as { items?: unknown[] }
  if (!listed.ok || items.length > 0) return false
  const body = JSON.stringify({
    kind: 'email',
    to: ['ops@example.com'],
    default: true,
    description: 'Made by npm start: mails go into the mail folder of its data folder',
  })
  const made = await fetch(`${channels}/${NAME}`, { method: 'PUT', body, ...request })
  return made.ok
}
