import type { Response } from 'express'

const OVERTIME = Symbol('overtime')
type Locals = Record<symbol, boolean | undefined>

/** Notes that a request was answered for the time that it took. */
export function noteOvertime(res: Response): void {
  ;(res.locals as Locals)[OVERTIME] = true
}

/** Whether it was: what comes of it later is of no use. */
export function isOvertime(res: Response): boolean {
  return (res.locals as Locals)[OVERTIME] === true
}
