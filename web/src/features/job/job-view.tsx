import { useEffect, useRef } from 'react'
import type { JobItem } from '@/system/generated/contracts'
import { computeJobStatus, type JobRow, listJobItems } from '@/system/selectors/job'
import type { Team } from '@/system/selectors/team'
import { IconButton } from '@/ui/button'
import { Disclosure } from '@/ui/disclosure'
import { LongText } from '../shared/load-more'
import { useReadOnly, useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { JobMenu } from './job-card'
import { JobItems } from './job-items'
import { JobProgress, JobStatusText } from './job-progress'

/** A job, shown instead of the board: objective, progress and items. */
export function JobView(props: {
  readonly job: JobRow
  /** Items from a query. */
  readonly read: readonly JobItem[]
  readonly takesFocus: boolean
  readonly team: Team
  readonly handlers: TeamHandlers
}) {
  const t = useT()
  const { job, takesFocus, team, handlers } = props
  const forReading = useReadOnly()
  const back = useRef<HTMLButtonElement>(null)
  const status = computeJobStatus(job)
  useEffect(() => {
    if (takesFocus) back.current?.focus()
  }, [takesFocus])
  return (
    <section aria-label={job.title} className="flex min-h-0 flex-1 flex-col">
      <header className="shrink-0 space-y-1 border-b border-line px-4 pt-1.5 pb-2 max-sm:px-2">
        <div className="flex items-start gap-1.5">
          <IconButton
            ref={back}
            icon="arrowLeft"
            label={t('team.job_back')}
            onClick={() => handlers.onOpenJob('')}
            className="-ml-1.5"
          />
          <h3 className="wrap-any line-clamp-3 min-w-0 flex-1 pt-0.5 text-lg font-semibold">{job.title}</h3>
          {!forReading && <JobMenu job={job} handlers={handlers} />}
        </div>
        <p className="flex flex-wrap items-center gap-x-3">
          <JobStatusText status={status} />
          {job.assignee && (
            <span className="text-sm text-ink-faint">{t('team.job_by', { agent: job.assignee })}</span>
          )}
          {status === 'paused' && job.blocker && (
            <span className="wrap-any text-sm text-ink-soft">{job.blocker}</span>
          )}
        </p>
        <JobProgress job={job} />
        {(job.objective.text !== '' || job.objective.ref !== null) && (
          <Disclosure title={t('team.job_instructions')}>
            <LongText text={job.objective} />
          </Disclosure>
        )}
      </header>
      <JobItems
        job={job}
        items={listJobItems(team.tasks, job.job, props.read)}
        team={team}
        handlers={handlers}
      />
    </section>
  )
}
