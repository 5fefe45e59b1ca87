import type { Command } from 'commander'
import { addAuditCommand } from '../access/audit-command.ts'
import { addTokenCommands } from '../access/token-commands.ts'
import { addWhoamiCommand } from '../access/whoami-command.ts'
import { addDeadCommands } from '../dead/dead-commands.ts'
import { addRedrivesCommands } from '../dead/redrive-commands.ts'
import { addEnqueueCommand } from '../enqueue/enqueue-command.ts'
import { addRunsCommands } from '../runs/runs-commands.ts'
import { addBackfillsCommands } from '../schedules/backfill-commands.ts'
import { addSchedulesCommands } from '../schedules/schedules-commands.ts'
import { addCompletionCommands } from '../completion/completion-commands.ts'
import { addDoctorCommand } from '../doctor/doctor-command.ts'
import type { Shell } from '../session.ts'
import { addAlertsCommands } from './alerts-commands.ts'
import { addStatsCommand } from './stats-command.ts'
import { addCalendarsCommands } from './calendars-commands.ts'
import { addCronCommand } from './cron-command.ts'
import { addJobsCommand } from './jobs-command.ts'
import { addLeaderCommands } from './leader-commands.ts'
import { addLocksCommands } from './locks-commands.ts'
import { addUpCommand } from './up-command.ts'
import { addQueuesCommands } from './queues-commands.ts'
import { addWorkersCommand } from './workers-command.ts'

/** All that asks the api, by what people do most. */
export function addCommands(shell: Shell, program: Command): void {
  program.commandsGroup('Runs and jobs:')
  addEnqueueCommand(shell, program)
  addRunsCommands(shell, program)
  addJobsCommand(shell, program)
  addDeadCommands(shell, program)
  addRedrivesCommands(shell, program)
  program.commandsGroup('Schedules:')
  addSchedulesCommands(shell, program)
  addBackfillsCommands(shell, program)
  addCalendarsCommands(shell, program)
  addCronCommand(shell, program)
  program.commandsGroup('The system:')
  addUpCommand(shell, program)
  addDoctorCommand(shell, program)
  addQueuesCommands(shell, program)
  addWorkersCommand(shell, program)
  addLeaderCommands(shell, program)
  addLocksCommands(shell, program)
  addStatsCommand(shell, program)
  addAlertsCommands(shell, program)
  program.commandsGroup('Access:')
  addWhoamiCommand(shell, program)
  addTokenCommands(shell, program)
  addAuditCommand(shell, program)
  program.commandsGroup('This command:')
  addCompletionCommands(shell, program)
}
