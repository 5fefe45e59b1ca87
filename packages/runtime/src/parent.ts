/** What a service tells the process that started it, if there is a channel to it. */
export interface ParentMessage {
  type: 'ready'
  port?: number
}

export function tellParent(message: ParentMessage): void {
  // The callback takes the error of a channel that closes this moment; the parent's end is noticed elsewhere.
  process.send?.(message, undefined, undefined, () => undefined)
}
