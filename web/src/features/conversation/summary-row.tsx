import { memo } from 'react'
import { formatDuration } from '@/system/format/numbers'
import type { Activity } from '@/system/selectors/activity'
import { Icon } from '@/ui/icon'
import { useT } from '../shared/surface'

/** Shorter waits for a person are not shown. */
const MIN_WAIT_MS = 1000
const SEPARATOR = ' · '

/** The summary of a completed turn in one row. */
export const SummaryRow = memo(
  (props: { readonly activity: Activity; readonly open: boolean; readonly onToggle: () => void }) => {
    const t = useT()
    const { activity, open } = props
    const counts: string[] = []
    if (activity.tools > 0) counts.push(t.count('turn.tools', activity.tools))
    if (activity.files > 0) counts.push(t.count('turn.files', activity.files))
    if (activity.steers > 0) counts.push(t.count('turn.steers', activity.steers))
    if (activity.duration !== null) counts.push(formatDuration(activity.duration, t.locale))
    if (activity.waited >= MIN_WAIT_MS) {
      counts.push(t('turn.waited', { time: formatDuration(activity.waited, t.locale) }))
    }
    return (
      <button
        type="button"
        aria-expanded={open}
        title={t(open ? 'turn.hide_process' : 'turn.show_process')}
        onClick={props.onToggle}
        className="flex h-7 w-full items-center gap-2 rounded text-left text-ink-faint hover:text-ink"
      >
        <Icon name={open ? 'chevronDown' : 'chevronRight'} size={12} />
        <span className="tabular">
          {counts.join(SEPARATOR) || t('turn.worked')}
          {activity.failedTools > 0 && (
            <>
              {SEPARATOR}
              <span className="text-bad">{t.count('turn.failed_tools', activity.failedTools)}</span>
            </>
          )}
          {activity.rejectedTools > 0 && SEPARATOR + t.count('turn.rejected_tools', activity.rejectedTools)}
        </span>
        {activity.added + activity.removed > 0 && (
          <span className="tabular font-mono text-sm" aria-hidden="true">
            <span className="text-good">+{activity.added}</span>{' '}
            <span className="text-bad">−{activity.removed}</span>
          </span>
        )}
        <span className="ml-1 h-px flex-1 bg-line" />
      </button>
    )
  },
)
