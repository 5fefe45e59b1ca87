import { listRuns, type RunRow } from '@jadwal/db'
import { formatDuration } from '@jadwal/domain'
import { type QueueCounts, readLeader } from '@jadwal/queue'
import type { RequestHandler } from 'express'
import { alertsPart } from './alerts/alerts-part.ts'
import type { ApiDeps } from './api-deps.ts'
import { BOARD_PATH } from './bull-board.ts'
import { type Html, html } from './html.ts'
import { layout } from './layout.ts'
import { NextSchedules } from './next-schedules.ts'
import { publicPath } from './public-path.ts'

/** As the other links of this page: below the base of `layout`. */
const BOARD = BOARD_PATH.slice(1)
const REFRESH_SECONDS = 10
const RUNS = 20
const SCHEDULES = 50

/** The page at `/`: what there is, how it is going, and the way to everything else. */
export function pageHandler(deps: ApiDeps, canSignOut: boolean): RequestHandler {
  const { redis, prefix, db, snapshots, clock } = deps
  const nextSchedules = new NextSchedules(db, clock)
  return async (_req, res) => {
    const [leader, snapshot, schedules, runs] = await Promise.all([
      part(readLeader(redis, prefix)),
      part(snapshots.recent()),
      part(nextSchedules.first(SCHEDULES)),
      part(listRuns(db, {}, { limit: RUNS })),
    ])
    const body = html`<header>
        <h1>Jadwal</h1>
        <a href="${BOARD}">Bull Board</a> <a href="metrics">Metrics</a>
        <a href="api/v1/runs">Runs</a> <a href="api/v1/schedules">Schedules</a>
        <a href="api/v1/jobs">Jobs</a> <a href="api/v1/queues">Queues</a>
        <a href="api/v1/workers">Workers</a> <a href="api/v1/leader/terms">Terms</a>
        <a href="api/v1/alerts">Alerts</a> <a href="api/v1/docs">Api</a>
      </header>
      ${snapshot.ok ? '' : html`<p class="note">Redis cannot be reached right now.</p>`}
      ${runs.ok ? '' : html`<p class="note">The history cannot be reached right now. Runs go on.</p>`}
      <p>
        ${leaderLine(leader)} ${snapshot.ok ? `Workers: ${snapshot.value.workers.length}.` : ''}
      </p>
      ${snapshot.ok ? alertsPart(snapshot.value.alerts) : ''}
      ${snapshot.ok ? queuesTable(snapshot.value.queues) : ''}
      ${schedules.ok ? schedulesTable(schedules.value) : ''}
      ${runs.ok ? runsTable(runs.value.items.map(({ run }) => run)) : ''}
      <footer>
        As of ${shownInstant(clock.now().toISOString())}; times are UTC; the page renews itself each
        ${REFRESH_SECONDS} s.
        ${canSignOut ? html`<form style="all:unset" method="post" action="logout"><button style="all:unset;cursor:pointer;text-decoration:underline">Sign out</button></form>` : ''}
      </footer>`
    res
      .type('html')
      .send(layout(body, { base: publicPath(res, '/'), refreshSeconds: REFRESH_SECONDS }))
  }
}

type Part<T> = { ok: true; value: T } | { ok: false }

/** One part that cannot be read leaves the others standing. */
async function part<T>(work: Promise<T>): Promise<Part<T>> {
  try {
    return { ok: true, value: await work }
  } catch {
    return { ok: false }
  }
}

function leaderLine(leader: Part<Awaited<ReturnType<typeof readLeader>>>): Html {
  if (!leader.ok) return html``
  if (!leader.value) return html`<span class="bad">No scheduler leads.</span>`
  const { instance, term, since } = leader.value
  return html`Leader: <code>${instance}</code>, term ${term}, since ${shownInstant(since)}.`
}

function queuesTable(queues: readonly QueueCounts[]): Html {
  const rows = queues.map(
    ({ name, counts, deadLetters, paused, oldestWaitingSeconds, outboxDepth }) =>
      html`<tr>
        <td>
          <a href="${BOARD}/queue/${name}">${name}</a
          >${paused ? html` <span class="bad">paused</span>` : ''}
        </td>
        <td class="number">${counts.waiting + counts.prioritized}</td>
        <td class="number">
          ${oldestWaitingSeconds === null ? '' : `${Math.round(oldestWaitingSeconds)} s`}
        </td>
        <td class="number">${counts.delayed}</td>
        <td class="number">${counts.active}</td>
        <td class="number">
          ${deadLetters === 0 ? '0' : html`<a class="bad" href="${BOARD}/queue/${name}.dead">${deadLetters}</a>`}
        </td>
        <td class="number">${outboxDepth}</td>
      </tr>`,
  )
  return table(
    'Queues',
    ['Queue', '#Waiting', '#Oldest', '#Delayed', '#Active', '#Dead letters', '#Outbox'],
    rows,
  )
}

function schedulesTable({ first, more }: Awaited<ReturnType<NextSchedules['first']>>): Html {
  const rows = first.map(({ name, spec, nextTick, isPaused }) => {
    const cadence = spec.cron ?? `every ${formatDuration(spec.every ?? 0)}`
    const otherwise = isPaused ? 'paused' : 'none'
    return html`<tr>
      <td>${name}</td>
      <td><code>${cadence}</code></td>
      <td>${spec.timezone}</td>
      <td>${spec.job}</td>
      <td>
        ${nextTick === null ? html`<span class="soft">${otherwise}</span>` : shownInstant(nextTick)}
      </td>
    </tr>`
  })
  const rest = html`<p class="soft">and <a href="api/v1/schedules">${more} more</a></p>`
  return html`${table('Schedules', ['Schedule', 'Cadence', 'Zone', 'Job', 'Next tick'], rows)}
  ${more === 0 ? '' : rest}`
}

function runsTable(runs: readonly RunRow[]): Html {
  const rows = runs.map(
    (run) =>
      html`<tr>
        <td>
          <a href="api/v1/runs/${run.id}"><code>${run.id.slice(-12)}</code></a>
        </td>
        <td>${run.job}</td>
        <td>${run.schedule ?? ''}</td>
        <td class="${TONES[run.state] ?? 'soft'}">
          ${run.state}${run.reason === null ? '' : `, ${run.reason}`}
        </td>
        <td class="number">${run.attempt}</td>
        <td>${shownInstant((run.tick_at ?? run.enqueued_at).toISOString())}</td>
        <td class="wrap">${run.error?.message.slice(0, 200) ?? ''}</td>
      </tr>`,
  )
  return table(
    'Latest runs',
    ['Run', 'Job', 'Schedule', 'State', '#Attempt', 'Tick, or enqueued', 'Error'],
    rows,
  )
}

const TONES: Record<string, string> = { succeeded: 'good', dead: 'bad', retrying: 'bad' }

/** A heading that starts with `#` is of a column of numbers. */
function table(title: string, headings: readonly string[], rows: readonly Html[]): Html {
  if (rows.length === 0)
    return html`<h2>${title}</h2>
      <p class="soft">None yet.</p>`
  const head = headings.map((heading) =>
    heading.startsWith('#')
      ? html`<th class="number">${heading.slice(1)}</th>`
      : html`<th>${heading}</th>`,
  )
  return html`<h2>${title}</h2>
    <div class="table">
      <table>
        <thead>
          <tr>
            ${head}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`
}

function shownInstant(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}</time>`
}
