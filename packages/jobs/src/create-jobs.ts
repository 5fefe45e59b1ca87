import { type AnyJob, systemClock } from '@jadwal/sdk'
import { demoFlaky, demoHello } from './demo-jobs.ts'
import { emailSend } from './email-send.ts'
import { openAgent } from './http-exchange.ts'
import { httpRequest } from './http-request.ts'
import { reportGenerate } from './report-generate.ts'
import type { Settings } from './settings.ts'
import { shellExec } from './shell-exec.ts'

/** The built-in jobs and the examples, with the settings that they need. */
export function createJobs(settings: Settings): readonly AnyJob[] {
  const dispatcher = openAgent()
  return [
    httpRequest({ dispatcher, clock: systemClock }),
    shellExec(settings),
    reportGenerate({ settings, dispatcher }),
    emailSend(settings),
    demoHello,
    demoFlaky,
  ]
}
