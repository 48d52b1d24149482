import type { Translate } from '@/system/i18n/translate'
import {
  computeJobStatus,
  countItems,
  type ItemCounts,
  type ItemStatus,
  type JobRow,
  type JobStatus,
  sumItems,
} from '@/system/selectors/job'
import { Icon, type IconName } from '@/ui/icon'
import { Dot, type Tone } from '@/ui/marks'
import { useT } from '../shared/surface'

export const COUNTED = ['completed', 'failed', 'running', 'waiting', 'cancelled'] as const

const FILLS: Readonly<Record<(typeof COUNTED)[number], string>> = {
  completed: 'bg-good',
  failed: 'bg-bad',
  running: 'bg-accent animate-breathe',
  waiting: '',
  cancelled: 'bg-line-strong',
}

export const ITEM_TONES: Readonly<Record<ItemStatus, Tone>> = {
  waiting: 'quiet',
  running: 'accent',
  paused: 'warn',
  failed: 'bad',
  completed: 'good',
  cancelling: 'quiet',
  cancelled: 'quiet',
}

const INKS: Readonly<Record<JobStatus, string>> = {
  running: 'text-ink-soft',
  paused: 'text-warn',
  failed: 'text-bad',
  completed: 'text-ink-soft',
  cancelling: 'text-ink-soft',
  cancelled: 'text-ink-soft',
}

const ICONS: Partial<Record<JobStatus, IconName>> = {
  paused: 'pause',
  failed: 'warning',
  completed: 'check',
}

/**
 * Item counts by status. Zero counts are left out, except completed. In a paused job, waiting
 * reads paused.
 */
function describeCounts(t: Translate, counts: ItemCounts, paused: boolean): string {
  const all = sumItems(counts)
  return COUNTED.filter((status) => status === 'completed' || counts[status] > 0)
    .map((status) => {
      const label = status === 'waiting' && paused ? 'paused' : status
      return t(`team.job_counts.${label}`, { count: counts[status], all })
    })
    .join(t('team.job_counts_between'))
}

export function JobStatusText({ status }: { status: JobStatus }) {
  const t = useT()
  const icon = ICONS[status]
  return (
    <span className={`inline-flex items-center gap-1.5 text-sm whitespace-nowrap ${INKS[status]}`}>
      {icon === undefined ? (
        <Dot tone={status === 'running' ? 'accent' : 'quiet'} active={status === 'running'} />
      ) : (
        <Icon name={icon} size={12} />
      )}
      {t(`team.job.${status}`)}
    </span>
  )
}

/** The progress of a job as a bar and as text. */
export function JobProgress({ job }: { job: JobRow }) {
  const t = useT()
  const counts = countItems(job)
  const all = sumItems(counts)
  const text = describeCounts(t, counts, computeJobStatus(job) === 'paused')
  return (
    <div className="space-y-1">
      <div
        role="progressbar"
        aria-label={t('team.job_progress', { job: job.title })}
        aria-valuemin={0}
        aria-valuemax={all}
        aria-valuenow={counts.completed}
        aria-valuetext={text}
        className="flex h-1.5 gap-px overflow-hidden rounded-full bg-hover"
      >
        {COUNTED.filter((status) => counts[status] > 0).map((status) => (
          <span
            key={status}
            className={`min-w-1 ${FILLS[status]}`}
            style={{ flexGrow: counts[status], flexBasis: 0 }}
          />
        ))}
      </div>
      <p className="tabular text-sm text-ink-soft">{text}</p>
    </div>
  )
}
