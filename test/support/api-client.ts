import type { ServiceProcess } from '@jadwal/testkit'

export interface Answer {
  status: number
  body: Record<string, unknown>
}

/** Asks the api under test, as an admin. */
export type Ask = (method: string, path: string, body?: object) => Promise<Answer>

export function apiClient(api: ServiceProcess, token: string): Ask {
  return async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${api.port}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    return {
      status: response.status,
      body: text === '' ? {} : (JSON.parse(text) as object),
    } as Answer
  }
}
