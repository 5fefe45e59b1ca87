import type { RequestHandler } from 'express'
import { sendProblem } from './error-handler.ts'
import { noteOvertime } from './overtime.ts'
import { Problem } from './problem.ts'

export interface TimeLimits {
  /** For all of a request to come in, in ms. */
  receiveMs: number
  /** For its answer to begin, in ms. */
  answerMs: number
}

/** A change of schedules waits for others for 30 s at most. */
export const TIME_LIMITS: TimeLimits = { receiveMs: 30_000, answerMs: 60_000 }

/** A client may read what it was told before its connection ends. */
const LINGER_MS = 5_000

/**
 * Answers with a problem when a request takes too long to come in, or to be answered. What has begun to
 * be answered, as a stream has, sees to its time by itself.
 */
export function limitTime({ receiveMs, answerMs }: TimeLimits): RequestHandler {
  return (req, res, next) => {
    const end = (problem: Problem): void => {
      if (res.headersSent) return
      noteOvertime(res)
      sendProblem(res, problem, typeof req.id === 'string' ? req.id : '')
    }
    const receiving = setTimeout(() => {
      if (!req.complete) end(tooSlow(receiveMs))
    }, receiveMs)
    const answering = setTimeout(() => end(tooLong(answerMs)), answerMs)
    const stop = (): void => {
      clearTimeout(receiving)
      clearTimeout(answering)
    }
    res.once('close', stop)
    res.once('finish', () => {
      stop()
      // Nobody reads what still comes: without an end to it, it could come forever.
      if (!req.complete) setTimeout(() => req.destroy(), LINGER_MS).unref()
    })
    next()
  }
}

function tooSlow(ms: number): Problem {
  return new Problem('request-timeout', {
    detail: `The request was not complete within ${ms / 1_000} s.`,
    headers: { Connection: 'close' },
  })
}

function tooLong(ms: number): Problem {
  return new Problem('answer-timeout', {
    detail: `There was no answer within ${ms / 1_000} s. What was asked for may still be done.`,
  })
}
