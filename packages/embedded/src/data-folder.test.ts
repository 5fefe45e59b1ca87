import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, isTokenText } from '@jadwal/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { openDataFolder } from './data-folder.ts'

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'jadwal-data-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('a data folder is made with all that leads to it, and keeps its secrets', () => {
  const path = join(emptyFolder(), 'a', 'b')
  const secret = openDataFolder(path).secret('admin-token')
  expect(statSync(join(path, 'logs')).isDirectory()).toBe(true)
  expect(statSync(join(path, 'admin-token')).mode & 0o777).toBe(0o600)
  expect(openDataFolder(path).secret('admin-token')).toBe(secret)
})

test('an empty file holds no secret: it is made anew', () => {
  const path = emptyFolder()
  for (const text of ['', ' \n']) {
    writeFileSync(join(path, 'admin-token'), text)
    const secret = openDataFolder(path).secret('admin-token')
    expect(isTokenText(secret)).toBe(true)
    expect(openDataFolder(path).secret('admin-token')).toBe(secret)
  }
  expect(readdirSync(path).toSorted()).toEqual(['admin-token', 'logs'])
})

test('a place that takes no folder is refused with its name', () => {
  const file = join(emptyFolder(), 'file')
  writeFileSync(file, '')
  for (const path of ['/proc/x', join(file, 'x'), file]) {
    expect(() => openDataFolder(path)).toThrow(ConfigError)
    expect(() => openDataFolder(path)).toThrow(
      `JADWAL_DATA must be a folder that can be written to`,
    )
  }
})
