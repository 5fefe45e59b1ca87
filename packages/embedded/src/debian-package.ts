import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Downloads packages of the distribution and unpacks them into `folder`, without root and without
 * touching the system: apt gets a state of its own. Packages that are installed are taken as given,
 * so only those named and what they lack is fetched. Throws where there is no apt, or no network.
 */
export async function unpackDebianPackages(
  packages: readonly string[],
  folder: string,
): Promise<void> {
  const unfinished = `${folder}.${process.pid}`
  const tree = join(unfinished, 'tree')
  const archives = join(unfinished, 'cache', 'archives')
  mkdirSync(join(unfinished, 'state', 'lists', 'partial'), { recursive: true })
  mkdirSync(join(archives, 'partial'), { recursive: true })
  mkdirSync(tree)
  try {
    const apt = aptGet(unfinished)
    await apt(['update'])
    await apt(['-d', '-y', '--reinstall', '--no-install-recommends', 'install', ...packages])
    for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb'))) {
      await run('dpkg', ['-x', join(archives, name), tree])
    }
    if (existsSync(folder)) return
    mkdirSync(join(folder, '..'), { recursive: true })
    try {
      renameSync(tree, folder)
    } catch (error) {
      // Another process was faster.
      if (!existsSync(folder)) throw error
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

function aptGet(state: string): (args: readonly string[]) => Promise<unknown> {
  const settings = {
    'Dir::State': join(state, 'state'),
    'Dir::State::lists': join(state, 'state', 'lists'),
    'Dir::Cache': join(state, 'cache'),
    'Dir::State::status': '/var/lib/dpkg/status',
    'Debug::NoLocking': '1',
    'APT::Sandbox::User': '',
    'APT::Keep-Downloaded-Packages': '1',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  return (args) => run('apt-get', ['-q', ...options, ...args], { maxBuffer: 16 * 1024 * 1024 })
}
