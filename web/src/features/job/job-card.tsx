import { useState } from 'react'
import { computeJobStatus, type JobRow } from '@/system/selectors/job'
import { IconButton } from '@/ui/button'
import { Menu } from '@/ui/menu/menu'
import { ConfirmDialog } from '../shared/confirm-dialog'
import { useReadOnly, useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { buildJobMenu } from './job-menu'
import { JobProgress, JobStatusText } from './job-progress'

interface JobProps {
  readonly job: JobRow
  readonly handlers: TeamHandlers
}

/** A job on the board, with its progress. It opens the list of items. */
export function JobCard({ job, handlers }: JobProps) {
  const t = useT()
  const forReading = useReadOnly()
  const status = computeJobStatus(job)
  return (
    <li
      data-task={job.key}
      data-column={job.status}
      className="relative space-y-1 rounded-md border border-line bg-surface px-2.5 py-1.5"
    >
      <button
        type="button"
        onClick={() => handlers.onOpenJob(job.key)}
        className="wrap-any block w-full rounded pr-6 text-left font-medium hover:underline"
      >
        <span className="line-clamp-3">{job.title}</span>
      </button>
      {!forReading && (
        <span className="absolute top-0.5 right-0.5">
          <JobMenu job={job} handlers={handlers} />
        </span>
      )}
      <JobStatusText status={status} />
      <JobProgress job={job} />
      {status === 'paused' && job.blocker && (
        <p className="wrap-any line-clamp-2 text-sm text-ink-soft">{job.blocker}</p>
      )}
      {job.assignee && (
        <p className="truncate text-sm text-ink-faint">{t('team.job_by', { agent: job.assignee })}</p>
      )}
    </li>
  )
}

export function JobMenu({ job, handlers }: JobProps) {
  const t = useT()
  const [cancelling, setCancelling] = useState(false)
  return (
    <>
      <Menu
        trigger={
          <IconButton aria-haspopup="menu" icon="more" label={t('team.task_menu', { task: job.title })} />
        }
        entries={buildJobMenu(t, job, { handlers, onCancel: () => setCancelling(true) })}
      />
      {cancelling && (
        <ConfirmDialog
          title={t('team.task_cancel_title', { task: job.title })}
          body={t('team.job_cancel_body')}
          action={t('team.job_cancel')}
          onDo={() => handlers.onCancelJob(job.job)}
          onDone={() => setCancelling(false)}
        />
      )}
    </>
  )
}
