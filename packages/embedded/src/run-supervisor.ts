import { ConfigError, EXIT, sleep } from '@jadwal/runtime'
import { banner } from './banner.ts'
import { readConfig, type SupervisorConfig } from './config.ts'
import { type DataFolder, openDataFolder } from './data-folder.ts'
import { type EndSignals, listenForEnd } from './end-signals.ts'
import { checkHost } from './host-check.ts'
import { AlreadyRunningError, type StartLock, takeStartLock } from './start-lock.ts'
import { StartFailedError } from './start-failed-error.ts'
import { Supervisor } from './supervisor.ts'
import { openTerminal, type Terminal } from './terminal.ts'

/**
 * The whole life of `npm start`; resolves with the exit code. 0: stopped on request. 1: another one
 * runs on this data folder. Else the code of what could not be started (69, 70, 78).
 */
export async function runSupervisor(env: NodeJS.ProcessEnv, projectRoot: string): Promise<number> {
  const terminal = openTerminal(process.stdout)
  let config: SupervisorConfig
  let data: DataFolder
  try {
    config = readConfig(env, projectRoot)
    await checkHost(config.host)
    data = openDataFolder(config.dataFolder)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    terminal.say(`wrong environment\n${error.message}`)
    return EXIT.config
  }
  const end = listenForEnd({
    watchParent: env['npm_lifecycle_event'] === 'start',
    onHurry: () => terminal.say('asked again to stop, hurrying'),
  })
  // Node's default would end us and nobody else; before there are services it has nobody to go to.
  process.on('SIGUSR2', () => undefined)
  const lock = await lockFolder(data, terminal, end)
  if (!lock) return 1
  try {
    return await live(config, { data, terminal, end, lock })
  } finally {
    lock.release()
  }
}

const LINES_UNDER_WAY_MS = 300

interface LifeDeps {
  data: DataFolder
  terminal: Terminal
  end: EndSignals
  lock: StartLock
}

async function live(
  config: SupervisorConfig,
  { data, terminal, end, lock }: LifeDeps,
): Promise<number> {
  let exitCode: number = EXIT.ok
  let lastWords = ''
  const supervisor = new Supervisor(config, {
    data,
    terminal,
    stop: end.stop,
    hurry: end.hurry,
    onGaveUp(reason) {
      exitCode = reason.code
      lastWords = `${reason.name} cannot run:\n${reason.lastWords}`
      end.requestStop()
    },
  })
  process.on('SIGUSR2', () => void supervisor.renew())
  try {
    await supervisor.start()
    // What the services said before they were ready may still be in their pipes: this comes last.
    await sleep(LINES_UNDER_WAY_MS, end.stop)
    terminal.plain(banner(config, supervisor))
    await aborted(end.stop)
  } catch (error) {
    if (!end.stop.aborted) {
      exitCode = error instanceof StartFailedError ? error.exitCode : EXIT.software
      lastWords = error instanceof Error ? error.message : String(error)
    }
  }
  lock.markStopping()
  terminal.say('stopping; press Ctrl-C again to hurry')
  await supervisor.stop()
  terminal.say('stopped')
  if (lastWords) terminal.plain(`\n${lastWords}\n`)
  return exitCode
}

/** Takes the lock; waits for one that is about to be given back. */
async function lockFolder(
  data: DataFolder,
  terminal: Terminal,
  end: EndSignals,
): Promise<StartLock | undefined> {
  for (let waited = false; ; waited = true) {
    try {
      return await takeStartLock(data.lock)
    } catch (error) {
      if (!(error instanceof AlreadyRunningError)) throw error
      const { pid, stopping } = error
      if (end.stop.aborted || (!stopping && waited)) {
        terminal.say(
          `another npm start (process ${pid}) runs on ${data.path}.\n` +
            'Stop it first, or set JADWAL_DATA to another folder for a second one.',
        )
        return undefined
      }
      if (stopping && !waited) terminal.say(`waiting for the last start (process ${pid}) to stop`)
      // One whose npm was killed needs a moment to notice.
      await sleep(stopping ? 200 : 1_000, end.stop)
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
