/**
 * A run with a lost attempt is a suspect: it may be what killed its worker. A process has one of them
 * in hand at most, so that one that kills again takes no other suspect with it.
 */
export interface SuspectSlot {
  /** False when another run has it. */
  tryTake: () => boolean
  release: () => void
}

export function suspectSlot(): SuspectSlot {
  let isTaken = false
  return {
    tryTake() {
      if (isTaken) return false
      isTaken = true
      return true
    },
    release() {
      isTaken = false
    },
  }
}
