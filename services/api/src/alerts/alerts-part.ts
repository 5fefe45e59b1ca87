import { type AlertState, roughly } from '@jadwal/domain'
import { type Html, html } from '../html.ts'

const SHOWN = 20

/** What of the front page tells of open alerts; nothing while there are none. */
export function alertsPart(alerts: readonly AlertState[]): Html {
  if (alerts.length === 0) return html``
  const sorted = alerts.toSorted((a, b) => b.sinceMs - a.sinceMs)
  const items = sorted.slice(0, SHOWN).map(
    ({ group, rule, sinceMs, changedMs }) =>
      html`<li>
        <span class="bad">${group.summary}</span>
        <span class="soft">${rule}, for ${roughly(changedMs - sinceMs)}</span>
      </li>`,
  )
  const more = alerts.length - SHOWN
  return html`<h2>Alerts</h2>
    <ul>
      ${items}
    </ul>
    ${more > 0 ? html`<p class="soft">and <a href="api/v1/alerts?state=open">${more} more</a></p>` : ''}`
}
