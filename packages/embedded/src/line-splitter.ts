/** Calls `onLine` for each whole line of a stream, and for what is left at its end. */
export function onEachLine(
  stream: NodeJS.ReadableStream | null,
  onLine: (line: string) => void,
): void {
  let rest = ''
  if (!stream) return
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(onLine)
  })
  stream.on('end', () => {
    if (rest !== '') onLine(rest)
  })
}
