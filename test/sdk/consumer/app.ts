// Enqueues through the installed package, tries a handler with its test kit, and says what came of it.
import { createClient, InvalidRunError } from '@jadwal/sdk'
import { runJob } from '@jadwal/sdk/testing'
import { chargeCard } from './jobs.ts'

const [redisUrl = '', prefix = ''] = process.argv.slice(2)
const client = createClient({ redisUrl, prefix })
const payload = { customer: 'c1', cents: 500, token: 't' }
const id = await client.enqueue(chargeCard, payload)
const refused = await client.enqueue(chargeCard, { ...payload, cents: -1 }).catch((error) => error)
await client.close()
const tried = await runJob(chargeCard, payload)
const isInvalid = refused instanceof InvalidRunError
process.stdout.write(JSON.stringify({ id, isInvalid, tried }))
