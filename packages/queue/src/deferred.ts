/** A promise that is resolved from outside. */
export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = nothing
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

function nothing(): void {}
