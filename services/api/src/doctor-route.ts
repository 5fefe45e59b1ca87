import { readFile } from 'node:fs/promises'
import { readPostgresHealth } from '@jadwal/db'
import {
  Finding,
  findingIf,
  isVersionAtLeast,
  judgePostgres,
  judgeRedis,
  judgeWork,
} from '@jadwal/domain'
import { readRedisHealth, readWorkHealth } from '@jadwal/queue'
import { VERSION } from '@jadwal/runtime'
import type { Response } from 'express'
import { z } from 'zod'
import { At } from './answer-parts.ts'
import type { ApiDeps } from './api-deps.ts'
import { callerOf } from './caller.ts'
import { isLoopback } from './loopback.ts'
import type { Endpoints } from './endpoints.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'

const LEAST_NODE = '20.19'
const FEWEST_FILES = 4_096

const doctorDoc: OperationDoc = {
  id: 'runDoctor',
  summary: 'What is wrong with the system, and what cures it',
  description:
    'Looks at Redis, Postgres, the services and this api. It answers also while Redis or Postgres is away, and says so.',
  answers: {
    200: {
      description: 'What was found, each part with its status.',
      schema: z
        .strictObject({ version: z.string(), at: At, items: z.array(Finding) })
        .meta({ id: 'Diagnosis' }),
      example: {
        version: VERSION,
        at: EXAMPLE.at,
        items: [
          {
            check: 'redis.eviction',
            status: 'broken',
            found: 'maxmemory-policy is allkeys-lru',
            cure: 'Redis would throw runs away when it is full: redis-cli CONFIG SET maxmemory-policy noeviction, and in redis.conf.',
          },
        ],
      },
    },
  },
}

/** `/doctor`: what the api can see of the whole system. */
export function addDoctorRoute(endpoints: Endpoints, deps: ApiDeps): void {
  const { redis, prefix, db, clock } = deps
  endpoints.add('/doctor', {
    get: {
      role: 'operator',
      doc: doctorDoc,
      handle: async (_req, res) => {
        const parts = await Promise.all([
          ownFindings(deps, res),
          looked('redis', async () => judgeRedis(await readRedisHealth(redis, clock))),
          looked('services', async () => judgeWork(await readWorkHealth(redis, prefix), VERSION)),
          looked('postgres', async () => judgePostgres(await readPostgresHealth(db, clock))),
        ])
        res.json({ version: VERSION, at: clock.now().toISOString(), items: parts.flat() })
      },
    },
  })
}

/** What can't be looked at is a finding too. */
async function looked(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const cure = 'See that it runs, and that REDIS_URL and DATABASE_URL of the api are right.'
    return [{ check, status: 'broken', found: `it does not answer the api: ${reason}`, cure }]
  }
}

async function ownFindings({ publicUrl }: ApiDeps, res: Response): Promise<Finding[]> {
  const { node } = process.versions
  const isOpen = callerOf(res).by === 'nothing'
  const isPlain = publicUrl?.startsWith('http:') && !isLoopback(new URL(publicUrl).hostname)
  return [
    findingIf(!isVersionAtLeast(node, LEAST_NODE), 'broken', {
      check: 'api.node',
      found: `the api runs on Node ${node}`,
      cure: `Jadwal needs Node ${LEAST_NODE} or later.`,
    }),
    findingIf(isOpen, 'warning', {
      check: 'api.access',
      found: isOpen
        ? 'everybody on its host may do everything (JADWAL_AUTH=off)'
        : 'the api asks for tokens',
      cure: 'Set JADWAL_ADMIN_TOKEN, and take JADWAL_AUTH=off away.',
    }),
    findingIf(isPlain === true, 'warning', {
      check: 'api.tls',
      found:
        publicUrl === undefined ? 'JADWAL_PUBLIC_URL is not set' : `people come by ${publicUrl}`,
      cure: 'Tokens and cookies go over the wire as they are: put TLS before the api, and https into JADWAL_PUBLIC_URL.',
    }),
    ...(await openFiles()),
  ]
}

/** Only Linux tells it. */
async function openFiles(): Promise<Finding[]> {
  const text = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, limit] = /^Max open files\s+(\d+|unlimited)/m.exec(text) ?? []
  if (limit === undefined) return []
  return [
    findingIf(Number(limit) < FEWEST_FILES, 'warning', {
      check: 'api.open-files',
      found: `the api may open ${limit} files`,
      cure: `Each connection is one: raise it to ${FEWEST_FILES} or more (ulimit -n, LimitNOFILE of systemd, ulimits of a container).`,
    }),
  ]
}
