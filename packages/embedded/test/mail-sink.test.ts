import { readdirSync, readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { makeTempFolder, removeTempFolder } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { startMailSink } from '../src/mail-sink.ts'

test('a mail becomes a file in the folder', async () => {
  const folder = makeTempFolder('mail')
  const sink = await startMailSink(folder)
  await send(sink.port, 'Subject: Report\r\n\r\nAll is well.')
  await sink.stop()
  const [name = '', ...others] = readdirSync(folder)
  expect(others).toEqual([])
  expect(name).toMatch(/^\d{4}-.*\.eml$/)
  expect(readFileSync(join(folder, name), 'utf8')).toContain('All is well.')
  removeTempFolder(folder)
})

/** The fewest words of SMTP that send a mail. */
async function send(port: number, mail: string): Promise<void> {
  const words = [
    'EHLO test',
    'MAIL FROM:<a@b.c>',
    'RCPT TO:<d@e.f>',
    'DATA',
    `${mail}\r\n.`,
    'QUIT',
  ]
  const socket = createConnection(port, '127.0.0.1').setEncoding('utf8')
  socket.on('data', (answer: string) => {
    // An answer of several lines ends with the one that has a space after its code.
    if (!/^\d{3} /m.test(answer)) return
    const word = words.shift()
    if (word) socket.write(`${word}\r\n`)
  })
  await new Promise((resolve) => {
    socket.once('close', resolve)
  })
}
