/** Exit codes of a service, after sysexits.h. */
export const EXIT = { ok: 0, unavailable: 69, software: 70, config: 78 } as const
