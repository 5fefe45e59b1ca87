/** What the examples of the documents are about. */
export const EXAMPLE = {
  run: '0199f3a2-7c3a-7c5d-8f10-3b6f3c1d2e4f',
  dead: '0199f3a2-8d11-7a02-9b3e-5a1c0d9e7f21',
  redrivenAs: '0199f3a2-8d11-8a02-9b3e-5a1c0d9e7f22',
  redrive: '6f1c2a9e-3a44-4c8b-9f6d-2b7c1e0d5a31',
  backfill: '3d0e7b1c-5f2a-4e6d-8c9b-7a6f5e4d3c21',
  scheduleId: '8b7a6c5d-4e3f-4a2b-9c1d-0e9f8a7b6c51',
  schedule: 'morning-mail',
  calendar: 'holidays',
  worker: 'worker-1:4711:9f3a',
  scheduler: 'scheduler-1:4242:51c0',
  fingerprint: '3f9a1c0b7d2e4f68',
  at: '2026-11-30T06:00:00.000Z',
  later: '2026-11-30T06:00:01.250Z',
  nextDay: '2026-12-01T06:00:00.000Z',
} as const
