import type { Translate } from '@/system/i18n/translate'
import {
  type ItemCounts,
  type ItemStanding,
  itemCounts,
  type JobRow,
  type JobStanding,
  jobStanding,
  totalItems,
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

export const ITEM_TONES: Readonly<Record<ItemStanding, Tone>> = {
  waiting: 'quiet',
  running: 'accent',
  paused: 'warn',
  failed: 'bad',
  completed: 'good',
  cancelling: 'quiet',
  cancelled: 'quiet',
}

const INKS: Readonly<Record<JobStanding, string>> = {
  running: 'text-ink-soft',
  paused: 'text-warn',
  failed: 'text-bad',
  completed: 'text-ink-soft',
  cancelling: 'text-ink-soft',
  cancelled: 'text-ink-soft',
}

const ICONS: Partial<Record<JobStanding, IconName>> = {
  paused: 'pause',
  failed: 'warning',
  completed: 'check',
}

/**
 * Item counts by standing. Zero counts are left out, except completed. In a paused job, waiting
 * reads paused.
 */
function countsText(t: Translate, counts: ItemCounts, paused: boolean): string {
  const all = totalItems(counts)
  return COUNTED.filter((standing) => standing === 'completed' || counts[standing] > 0)
    .map((standing) => {
      const label = standing === 'waiting' && paused ? 'paused' : standing
      return t(`team.job_counts.${label}`, { count: counts[standing], all })
    })
    .join(t('team.job_counts_between'))
}

export function JobStandingText({ standing }: { standing: JobStanding }) {
  const t = useT()
  const icon = ICONS[standing]
  return (
    <span className={`inline-flex items-center gap-1.5 text-sm whitespace-nowrap ${INKS[standing]}`}>
      {icon === undefined ? (
        <Dot tone={standing === 'running' ? 'accent' : 'quiet'} active={standing === 'running'} />
      ) : (
        <Icon name={icon} size={12} />
      )}
      {t(`team.job.${standing}`)}
    </span>
  )
}

/** The progress of a job as a bar and in words. */
export function JobProgress({ job }: { job: JobRow }) {
  const t = useT()
  const counts = itemCounts(job)
  const all = totalItems(counts)
  const text = countsText(t, counts, jobStanding(job) === 'paused')
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
        {COUNTED.filter((standing) => counts[standing] > 0).map((standing) => (
          <span
            key={standing}
            className={`min-w-1 ${FILLS[standing]}`}
            style={{ flexGrow: counts[standing], flexBasis: 0 }}
          />
        ))}
      </div>
      <p className="tabular text-sm text-ink-soft">{text}</p>
    </div>
  )
}
