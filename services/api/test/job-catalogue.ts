import { DEFAULT_BACKOFF, type JobDescription } from '@jadwal/domain'

/** A job as a worker publishes it. */
export const EMAIL_JOB: JobDescription = {
  name: 'email.send',
  queue: 'emails',
  attempts: 3,
  backoff: DEFAULT_BACKOFF,
  timeoutMs: 60_000,
  payloadSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      to: { type: 'string', format: 'email' },
      template: { type: 'string', enum: ['welcome', 'bye'] },
      password: { type: 'string' },
    },
    required: ['to', 'template'],
    additionalProperties: false,
  },
}
