import type { Isolation } from '@jadwal/sdk'
import type { FromChild, ToChild } from './messages.ts'

/** Children of one kind stand in for each other, whatever job they last made an attempt of. */
export interface ChildKind {
  isolate: Isolation
  memoryMb: number
}

/** How a child ended. */
export interface ChildEnd {
  /** Null when a signal ended it. */
  code: number | null
  signal: NodeJS.Signals | null
  outOfMemory: boolean
  /** Why it could not be started, or what its thread did not catch. */
  cause?: unknown
}

/** The one who hears a child: the attempt that it makes, or the pool. */
export interface ChildListener {
  said(message: FromChild): void
  ended(end: ChildEnd): void
}

/** A thread or process that makes one attempt at a time, as the worker sees it. */
export interface Child {
  readonly kind: ChildKind
  listener: ChildListener
  /** How many attempts it was given. */
  made: number
  /** Undefined while it lives. */
  end: ChildEnd | undefined
  /** Throws when a part of the message can't be cloned; says nothing to a child that has ended. */
  send(message: ToChild): void
  /** Asks an idle child to end, and sees to it. */
  dismiss(): void
  /** Ends it at once, whatever it does. */
  kill(): void
}

/** What children are started with. */
export interface ChildStart {
  kind: ChildKind
  /** The bundle that it runs. */
  file: URL
  env: Readonly<NodeJS.ProcessEnv>
  listener: ChildListener
  /** Hears its end after whoever listens then. */
  onEnd: (child: Child) => void
}
