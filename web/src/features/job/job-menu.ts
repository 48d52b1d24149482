import type { Translate } from '@/system/i18n/translate'
import { canRetryItems, computeJobStatus, countItems, type JobRow } from '@/system/selectors/job'
import type { MenuEntry } from '@/ui/menu/open-menu'
import type { TeamHandlers } from '../shared/team-handlers'

/**
 * Menu entries for a job in its state. Its items move it on; it is not started or completed by
 * hand.
 */
export function buildJobMenu(
  t: Translate,
  job: JobRow,
  { handlers, onCancel }: { readonly handlers: TeamHandlers; readonly onCancel: () => void },
): readonly MenuEntry[] {
  const status = computeJobStatus(job)
  const entries: readonly (MenuEntry & { readonly offered: boolean })[] = [
    {
      id: 'retry',
      label: t('team.job_retry'),
      icon: 'play',
      offered: status === 'failed' || (status === 'running' && countItems(job).failed > 0),
      onSelect: () => handlers.onRetryItems(job.job, null),
    },
    {
      id: 'pause',
      label: t('team.task_pause'),
      icon: 'pause',
      offered: status === 'running',
      onSelect: () => handlers.onPauseJob(job.job),
    },
    {
      id: 'resume',
      label: t('team.task_resume'),
      icon: 'play',
      offered: status === 'paused',
      onSelect: () => handlers.onResumeJob(job.job),
    },
    {
      id: 'export',
      label: t('evidence.export'),
      icon: 'download',
      offered: true,
      onSelect: () => handlers.onExportTask(job.key),
    },
    {
      id: 'cancel',
      label: t('team.job_cancel'),
      icon: 'stop',
      danger: true,
      offered: canRetryItems(status) || status === 'paused',
      onSelect: onCancel,
    },
  ]
  return entries.filter((entry) => entry.offered)
}
