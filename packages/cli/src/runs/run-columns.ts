import { stateColor } from '../show/colors.ts'
import type { Output } from '../show/output.ts'
import type { Column } from '../show/table.ts'
import { between } from '../show/times.ts'
import { errorText, type RunAnswer } from './run-answer.ts'

/** What a list of runs shows of each. */
export function runColumns({ times }: Output): Column<RunAnswer>[] {
  return [
    { title: 'id', of: ({ id }) => id, isWhole: true },
    {
      title: 'state',
      of: ({ state }) => state,
      color: ({ state }) => stateColor(state),
      isWhole: true,
    },
    { title: 'job', of: ({ job }) => job },
    { title: 'queue', of: ({ queue }) => queue },
    { title: 'enqueued', of: ({ enqueuedAt }) => times.at(enqueuedAt) },
    { title: 'took', of: (run) => between(run.startedAt, run.finishedAt), align: 'right' },
    { title: 'schedule', of: ({ schedule }) => schedule },
    { title: 'why', of: whyOf },
  ]
}

function whyOf({ reason, error }: RunAnswer): string {
  return [reason, errorText(error)].filter((part) => part != null && part !== '').join(': ')
}
