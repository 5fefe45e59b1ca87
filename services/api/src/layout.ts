import { type Html, html, Html as RawHtml } from './html.ts'

const STYLE = new RawHtml(`
:root { color-scheme: light dark; --line: #d5d9e0; --soft: #5b6472; --back: #fff; --text: #1a1f27; --accent: #0b6bcb; --bad: #b3261e; --good: #1d7a3a; --card: #f6f7f9; }
@media (prefers-color-scheme: dark) { :root { --line: #343b46; --soft: #98a2b1; --back: #14181e; --text: #e6e9ee; --accent: #6cb2ff; --bad: #ff8a80; --good: #7bd88f; --card: #1c222a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem 3rem; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
a { color: var(--accent); } header { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: baseline; }
.table { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 500; font-size: .85rem; } td.wrap { white-space: normal; overflow-wrap: anywhere; min-width: 12rem; }
.number { text-align: right; } .soft, footer { color: var(--soft); } .bad { color: var(--bad); } .good { color: var(--good); }
.note { background: var(--card); border-left: 3px solid var(--bad); padding: .5rem .75rem; }
pre { overflow-x: auto; background: var(--card); padding: .5rem .75rem; font: .85em ui-monospace, monospace; } details { margin: .25rem 0; } summary { cursor: pointer; } h3 { font-size: .9rem; margin: 1rem 0 .25rem; }
code { font: .9em ui-monospace, monospace; }
form { display: grid; gap: .75rem; max-width: 24rem; margin: 15vh auto 0; }
input, button { font: inherit; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--card); color: inherit; }
a.button { text-align: center; text-decoration: none; padding: .5rem .75rem; border-radius: .4rem; background: var(--accent); color: var(--back); }
button { background: var(--accent); border-color: var(--accent); color: var(--back); cursor: pointer; }
footer { margin-top: 2.5rem; font-size: .85rem; }
`)

/**
 * A whole page. It needs no script and asks no other host for anything. Its links are relative to
 * `base`, the public path of `/`: `api/v1/runs`, not `/api/v1/runs`. It goes on to `goTo` by itself.
 */
export function layout(
  body: Html,
  { base, refreshSeconds, goTo }: { base: string; refreshSeconds?: number; goTo?: string },
): string {
  const wait = goTo === undefined ? refreshSeconds : `0;url=${goTo}`
  const refresh = wait === undefined ? '' : html`<meta http-equiv="refresh" content="${wait}" />`
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <base href="${base}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href="data:," />
        ${refresh}
        <title>Jadwal</title>
        <style>
          ${STYLE}
        </style>
      </head>
      <body>
        ${body}
      </body>
    </html> `.text
}
