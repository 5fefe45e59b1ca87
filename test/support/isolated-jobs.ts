import { readFileSync } from 'node:fs'
import { defineJob, type Isolation, type JobContext } from '@jadwal/sdk'
import { z } from 'zod'

type Note = (ctx: JobContext) => Promise<void>

/**
 * Jobs of the fault tests whose handlers run in children and do there what a worker could not bear, one
 * of each for threads and for processes. `note` writes down an attempt and the process that makes it.
 */
export function isolatedJobs(note: Note) {
  return (['thread', 'process'] as const).flatMap((isolate) => [
    /** Blocks its thread for so long, in a second of computing and a sleep that nothing interrupts. */
    defineJob({
      ...named('burn', isolate),
      payload: z.object({ ms: z.number() }),
      async handler({ ms }, ctx) {
        await note(ctx)
        const end = performance.now() + ms
        const computed = performance.now() + Math.min(ms, 1_000)
        while (performance.now() < computed);
        const nothing = new Int32Array(new SharedArrayBuffer(4))
        Atomics.wait(nothing, 0, 0, Math.max(0, end - performance.now()))
        return { burned: ms }
      },
    }),
    /** Takes its child down in its first attempt. */
    defineJob({
      ...named('crash', isolate),
      payload: z.object({}),
      async handler(_payload, ctx) {
        await note(ctx)
        if (ctx.attempt > 1) return 'made it'
        if (isolate === 'process') process.kill(process.pid, 'SIGKILL')
        return process.exit(7)
      },
    }),
    defineJob({
      ...named('eat', isolate),
      payload: z.object({}),
      attempts: 2,
      memoryMb: 64,
      async handler(_payload, ctx) {
        await note(ctx)
        const eaten: object[] = []
        for (;;) eaten.push({ at: eaten.length, text: `number ${eaten.length}` })
      },
    }),
    /** Throws its key where nobody catches it, also after its attempt if it is to be late. */
    spill(named('spill', isolate)),
    /** Stays in a system call until somebody opens the other end of the pipe. */
    defineJob({
      ...named('stuck', isolate),
      payload: z.object({ pipe: z.string() }),
      async handler({ pipe }, ctx) {
        await note(ctx)
        return readFileSync(pipe, 'utf8')
      },
    }),
    endless('loop', { isolate, note, timeoutMs: 60_000 }),
    endless('late', { isolate, note, timeoutMs: 500 }),
  ])
}

/** A job whose handler throws the key of its payload outside of its promise. */
export function spill(base: { name: string; queue: string; isolate?: Isolation }) {
  return defineJob({
    ...base,
    payload: z.object({ key: z.string(), late: z.boolean() }),
    attempts: 1,
    handler({ key, late }) {
      setTimeout(
        () => {
          throw Object.assign(new Error(`the key is ${key}`, { cause: key }), { code: key })
        },
        late ? 200 : 0,
      )
      return late ? undefined : new Promise(() => undefined)
    },
  })
}

/** Never ends by itself. */
function endless(
  what: string,
  { isolate, note, timeoutMs }: { isolate: Isolation; note: Note; timeoutMs: number },
) {
  return defineJob({
    ...named(what, isolate),
    payload: z.object({}),
    attempts: 1,
    timeoutMs,
    async handler(_payload, ctx) {
      await note(ctx)
      for (;;);
    },
  })
}

function named(what: string, isolate: Isolation) {
  const backoff = { delayMs: 200, maxDelayMs: 1_000, jitter: 0.5 }
  return { name: `isolated.${what}.${isolate}`, queue: 'isolated', isolate, backoff }
}
