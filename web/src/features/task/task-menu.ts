import type { Translate } from '@/system/i18n/translate'
import type { TaskRow } from '@/system/rows/model'
import type { Team } from '@/system/selectors/team'
import type { MenuEntry } from '@/ui/menu/open-menu'
import type { TeamHandlers } from '../shared/team-handlers'

type Status = TaskRow['status']

const ENDED: ReadonlySet<Status> = new Set(['done', 'cancelled'])
/** Maximum number of agents in the menu. */
const MAX_ASSIGNEES = 12

/** Whether the newest attempt of a task is running. */
export function isRunning(task: TaskRow): boolean {
  return task.attempts.at(-1)?.status === 'running'
}

/** Menu entries for a task in its state: life cycle, column, assignee. */
export function buildTaskMenu(
  t: Translate,
  task: TaskRow,
  team: Team,
  columns: readonly Status[],
  { handlers, onCancel }: { readonly handlers: TeamHandlers; readonly onCancel: () => void },
): readonly MenuEntry[] {
  const change = (values: Parameters<TeamHandlers['onChangeTask']>[1]) =>
    handlers.onChangeTask(task.key, values)
  const moves = columns
    .filter((status) => status !== task.status)
    .map((status): MenuEntry => {
      const label = t('team.move_to', { column: t(`team.task.${status}`) })
      return { id: status, label, icon: 'arrowRight', onSelect: () => change({ status }) }
    })
  const assigns = team.agents
    .filter((agent) => agent.agentId !== task.assignee && agent.state !== 'closed')
    .slice(0, MAX_ASSIGNEES)
    .map((agent): MenuEntry => {
      const label = t('team.assign_to', { agent: agent.name })
      return { id: agent.agentId, label, icon: 'edit', onSelect: () => change({ assignee: agent.agentId }) }
    })
  return [...buildLifeEntries(t, task, handlers, onCancel), ...moves, ...assigns]
}

function buildLifeEntries(
  t: Translate,
  task: TaskRow,
  handlers: TeamHandlers,
  onCancel: () => void,
): readonly MenuEntry[] {
  const { key } = task
  const ended = ENDED.has(task.status)
  const entries: MenuEntry[] = []
  const last = task.attempts.at(-1)
  if (!ended && last === undefined && !task.paused) {
    entries.push({
      id: 'start',
      label: t('team.task_start'),
      icon: 'play',
      onSelect: () => handlers.onStartTask(key),
    })
  }
  if (last !== undefined && (last.status === 'failed' || last.status === 'cancelled') && !task.paused) {
    entries.push({
      id: 'retry',
      label: t('team.task_retry'),
      icon: 'play',
      onSelect: () => handlers.onRetryTask(key),
    })
  }
  if (task.paused) {
    entries.push({
      id: 'resume',
      label: t('team.task_resume'),
      icon: 'play',
      onSelect: () => handlers.onResumeTask(key),
    })
  } else if (isRunning(task)) {
    entries.push({
      id: 'pause',
      label: t('team.task_pause'),
      icon: 'pause',
      onSelect: () => handlers.onPauseTask(key),
    })
  }
  entries.push({
    id: 'export',
    label: t('evidence.export'),
    icon: 'download',
    onSelect: () => handlers.onExportTask(key),
  })
  if (!ended) {
    entries.push({
      id: 'cancel',
      label: t('team.task_cancel'),
      icon: 'stop',
      danger: true,
      onSelect: onCancel,
    })
  }
  return entries
}
