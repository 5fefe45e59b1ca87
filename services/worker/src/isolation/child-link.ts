import { isMainThread, parentPort } from 'node:worker_threads'
import { type FromChild, isEnvelope, type ToChild } from './messages.ts'

/** A child's way to its worker. */
export interface ChildLink {
  /** Throws when a part of the message can't be cloned. */
  send(message: FromChild): void
  onMessage(hear: (message: ToChild) => void): void
  /** Sends the last message, and ends this child once that is on its way. */
  endWith(message: FromChild): void
}

const FAILED = 1
/** What a worker sends its process group is not for the child: the worker says when it is to end. */
const FOR_THE_WORKER = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const

export function openLink(): ChildLink {
  return isMainThread ? processLink() : threadLink()
}

function threadLink(): ChildLink {
  return {
    send: (jadwal) => parentPort?.postMessage({ jadwal }),
    onMessage: (hear) =>
      void parentPort?.on('message', (message: unknown) => {
        if (isEnvelope<ToChild>(message)) hear(message.jadwal)
      }),
    endWith: (jadwal) => {
      parentPort?.postMessage({ jadwal })
      process.exit(FAILED)
    },
  }
}

function processLink(): ChildLink {
  for (const signal of FOR_THE_WORKER) process.on(signal, () => undefined)
  process.on('disconnect', () => process.exit())
  return {
    // The callback takes the error of a channel that breaks this moment: the process ends with it.
    send: (jadwal) => void process.send?.({ jadwal }, undefined, undefined, () => undefined),
    onMessage: (hear) =>
      void process.on('message', (message: unknown) => {
        if (isEnvelope<ToChild>(message)) hear(message.jadwal)
      }),
    endWith: (jadwal) => {
      process.send?.({ jadwal }, undefined, undefined, () => process.exit(FAILED))
    },
  }
}
