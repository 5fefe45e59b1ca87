import { Job, type JobsOptions, type Queue } from 'bullmq'

/** What BullMQ would send to Redis to add a message, without the message's id and data. */
export interface MessageTemplate {
  /** The name of BullMQ's script, without its version. */
  script: string
  keys: string[]
  /** The packed arguments, in two parts: between them belongs the id. */
  beforeId: Buffer
  afterId: Buffer
  options: Buffer
}

/** Has the length of every run's id, which goes into the packed arguments. */
const ID = '00000000-0000-7000-8000-000000000000'
const DATA = '{}'

/**
 * Lets BullMQ build the command that adds a message and takes it apart: those of one kind differ in
 * id and data only. Throws when BullMQ builds it in another way than is known here.
 */
export async function messageTemplate(
  queue: Queue,
  name: string,
  options: JobsOptions,
): Promise<MessageTemplate> {
  let sent: { command: string; args: unknown[] } | undefined
  const client = {
    runCommand(command: string, args: unknown[]): void {
      sent = { command, args }
    },
  }
  const job = new Job(queue, name, JSON.parse(DATA), options, ID)
  await job.addJob(client as unknown as Parameters<typeof job.addJob>[0], {})
  const [packed, data, packedOptions] = sent?.args.slice(-3) ?? []
  const keys = sent?.args.slice(0, -3) ?? []
  const at = Buffer.isBuffer(packed) ? packed.indexOf(ID) : -1
  const isKnown = at > 0 && data === DATA && Buffer.isBuffer(packedOptions) && keys.every(isString)
  if (!sent || !Buffer.isBuffer(packed) || !isKnown)
    throw new Error('BullMQ adds messages in another way than the firing knows')
  return {
    script: sent.command.replace(/:.*/, ''),
    keys,
    beforeId: packed.subarray(0, at),
    afterId: packed.subarray(at + ID.length),
    options: packedOptions,
  }
}

/** Whether a message of that id can be made of a template. */
export function fitsTemplate(id: string): boolean {
  return id.length === ID.length
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}
