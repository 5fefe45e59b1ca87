import { Socket } from 'node:net'

/**
 * A thread in a child process that ends it when its worker is gone. The lifeline is a pipe to the
 * worker over which nothing goes: it breaks however the worker ends. The thread of the handler could
 * not see that while the handler computes.
 */
const LIFELINE = 3

const lifeline = new Socket({ fd: LIFELINE, readable: true, writable: false })
lifeline.on('error', () => undefined)
lifeline.on('close', () => process.kill(process.pid, 'SIGKILL'))
lifeline.resume()
