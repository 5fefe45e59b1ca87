import { fileDefaults, type ImportOptions } from './import-options.ts'
import { writeReport } from './import-report.ts'
import { messageOf, readInputFile } from './input-file.ts'
import { type K8sObjects, readK8sObjects } from './k8s-objects.ts'
import { K8S_DEFAULTS } from './k8s-policies.ts'
import { k8sReport } from './k8s-report.ts'
import { CronJobTakeOver } from './k8s-schedules.ts'
import { scheduleFileText } from './schedule-file-text.ts'
import type { Terminal } from './terminal.ts'

export interface ImportK8sOptions extends ImportOptions {
  timezone?: string
}

/** `jadwal import k8s`: gives 0 when all files were read, whatever they hold, and 1 when one can't be. */
export async function importK8s(
  terminal: Terminal,
  files: readonly string[],
  options: ImportK8sOptions,
): Promise<number> {
  const takeOver = new CronJobTakeOver(options.timezone ?? 'UTC')
  const names: string[] = []
  for (const file of files) {
    const input = await readInputFile(terminal, file)
    if (!input) return 1
    const objects = readObjects(input.text)
    if (typeof objects === 'string') {
      terminal.writeError(`jadwal: ${input.name} cannot be read: ${objects}\n`)
      return 1
    }
    takeOver.addFile(input.name, objects)
    names.push(input.name)
  }
  const title = names.join(', ')
  terminal.writeOutput(
    scheduleFileText({
      comment: `Taken over from ${title}. The defaults are what Kubernetes does.`,
      defaults: fileDefaults(K8S_DEFAULTS, options),
      taken: takeOver.taken,
    }),
  )
  terminal.writeError(writeReport(k8sReport(title, takeOver, options.timezone), options.json))
  return 0
}

/** The objects of a text, or why it can't be read as YAML at all. */
function readObjects(text: string): K8sObjects | string {
  try {
    const objects = readK8sObjects(text)
    const [problem] = objects.broken
    if (objects.readable > 0 || problem === undefined) return objects
    return `line ${problem.line}: ${problem.why}`
  } catch (error) {
    if (error instanceof RangeError) return 'it is nested too deeply'
    return messageOf(error)
  }
}
