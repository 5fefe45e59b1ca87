/**
 * A run that lost so many attempts in a row is a suspect: it may be what killed its workers. One lost
 * attempt says little, every crash and outage leaves many, and they are to go on side by side.
 */
export const SUSPECT_AFTER = 2

/** A process has one suspect in hand at most, so that one that kills again takes no other with it. */
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
