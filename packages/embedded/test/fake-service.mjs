// Stands in for a service of ours: says that it is ready, notes what happens to it, drains when asked.
// FAKE_<NAME>=78 ends it with that code at once; FAKE_DRAIN_MS is how long its drain takes.
import { appendFileSync } from 'node:fs'
import { basename } from 'node:path'
import { env } from 'node:process'

const name = basename(process.cwd())
const note = (what) => appendFileSync(`${env.JADWAL_DATA}/events`, `${name} ${what}\n`)
const wrong = env[`FAKE_${name.toUpperCase()}`]
if (wrong) {
  process.stderr.write(`jadwal ${name}: wrong environment\n`)
  process.exit(Number(wrong))
}
let asked = 0
function drain() {
  asked += 1
  note(asked === 1 ? 'drains' : 'hurries')
  const drainMs = asked === 1 ? Number(env.FAKE_DRAIN_MS ?? 0) : 0
  setTimeout(() => {
    note('ended')
    process.exit(0)
  }, drainMs)
}
process.on('SIGTERM', drain)
process.on('SIGINT', drain)
process.on('SIGUSR2', drain)
process.once('disconnect', drain)
const line = {
  level: 'info',
  time: performance.timeOrigin,
  service: name,
  msg: 'started',
  pid: process.pid,
}
process.stdout.write(`${JSON.stringify({ ...line, port: 9, redis: env.REDIS_URL })}\n`)
const tokens = {
  admin: env.JADWAL_ADMIN_TOKEN,
  viewer: env.JADWAL_VIEWER_TOKEN,
  token: env.JADWAL_TOKEN,
}
note(`env ${JSON.stringify({ port: env.JADWAL_PORT, ...tokens })}`)
process.send({ type: 'ready', port: 9 })
