import { messageOf } from '../input-file.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from './api-errors.ts'

export const DEFAULT_URL = 'http://127.0.0.1:3000'

export interface ConnectionOptions {
  url?: string
  tokenFile?: string
}

/** Where the api is, and what opens it. */
export interface Connection {
  /** Without a slash at its end. */
  url: string
  token: string | undefined
}

/** What options and environment say. Throws UsageError, which names what is wrong. */
export async function readConnection(
  terminal: Terminal,
  { url, tokenFile }: ConnectionOptions,
): Promise<Connection> {
  const { JADWAL_URL: fromEnv, JADWAL_TOKEN: token } = terminal.env
  const given = url ?? (fromEnv || DEFAULT_URL)
  const problem = urlProblem(given)
  if (problem !== undefined)
    throw new UsageError(`${url === undefined ? 'JADWAL_URL' : '--url'} ${problem}`)
  return {
    url: given.replace(/\/+$/, ''),
    token: tokenFile === undefined ? token || undefined : await readToken(terminal, tokenFile),
  }
}

/** What is wrong with an address; undefined when nothing is. */
function urlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    return `"${text}" is no address: write for example https://jobs.example.com`
  if (url.username !== '' || url.password !== '')
    return 'must not have a user or password: set JADWAL_TOKEN, or give --token-file'
  if (url.search !== '' || url.hash !== '') return `"${text}" must end with its host or path`
  return undefined
}

async function readToken(terminal: Terminal, file: string): Promise<string> {
  const text = file === '-' ? terminal.readInput() : terminal.readFile(file)
  const token = (
    await text.catch((error: unknown) => {
      throw new UsageError(`--token-file ${file} cannot be read: ${messageOf(error)}`)
    })
  ).trim()
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new UsageError(`--token-file ${file} must hold one token and nothing else`)
  return token
}
