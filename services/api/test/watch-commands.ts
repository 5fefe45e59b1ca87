import { once } from 'node:events'
import { connect } from 'node:net'

export interface CommandWatch extends AsyncDisposable {
  /** Every command that the server has been sent since, by anybody, each with its name in small letters. */
  commands: string[][]
}

/**
 * Watches a Redis by MONITOR, on a socket of its own: ioredis loses the count of its replies when
 * others send commands in the moment in which it begins to watch.
 */
export async function watchCommands(url: string): Promise<CommandWatch> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).setEncoding('utf8')
  const commands: string[][] = []
  let rest = ''
  const begun = new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines)
        if (line === '+OK') resolve()
        else commands.push(wordsOf(line))
    })
  })
  await once(socket, 'connect')
  socket.write('MONITOR\r\n')
  await begun
  return {
    commands,
    async [Symbol.asyncDispose]() {
      socket.destroy()
      await once(socket, 'close')
    },
  }
}

/** Of a line such as `+1796075247.9 [0 127.0.0.1:60404] "smembers" "queues"`. */
function wordsOf(line: string): string[] {
  const [name = '', ...words] = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(
    ([, word = '']) => word,
  )
  return [name.toLowerCase(), ...words]
}
