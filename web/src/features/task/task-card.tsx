import { type DragEvent, useState } from 'react'
import type { TaskRow } from '@/system/rows/model'
import { findAgentName, type Team } from '@/system/selectors/team'
import { IconButton } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { MarkdownLine } from '@/ui/markdown/markdown'
import { Badge } from '@/ui/marks'
import { Menu } from '@/ui/menu/menu'
import { ConfirmDialog } from '../shared/confirm-dialog'
import { useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { TaskDetail } from './task-detail'
import { buildTaskMenu } from './task-menu'

export function TaskCard(props: {
  readonly task: TaskRow
  readonly team: Team
  readonly columns: readonly TaskRow['status'][]
  readonly handlers: TeamHandlers
  readonly onDrag: (event: DragEvent) => void
}) {
  const t = useT()
  const { task, team, handlers } = props
  const [open, setOpen] = useState(false)
  const [cancelling, setCancelling] = useState(false)
  const assignee = task.assignee ? findAgentName(team.agents, task.assignee) : ''
  const dependencies = openDependencies(task, team)
  const progress = task.status === 'done' ? task.summary : task.progress
  return (
    <li
      data-task={task.key}
      data-column={task.status}
      draggable
      onDragStart={props.onDrag}
      className="relative rounded-md border border-line bg-surface px-2.5 py-1.5"
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="wrap-any block w-full rounded pr-6 text-left font-medium"
      >
        <span className={open ? '' : 'line-clamp-3'}>{task.title}</span>
      </button>
      <span className="absolute top-0.5 right-0.5">
        <Menu
          trigger={
            <IconButton aria-haspopup="menu" icon="more" label={t('team.task_menu', { task: task.title })} />
          }
          entries={buildTaskMenu(t, task, team, props.columns, {
            handlers,
            onCancel: () => setCancelling(true),
          })}
        />
      </span>
      {task.paused && (
        <p className="flex items-center gap-1.5 text-sm text-warn">
          <Icon name="pause" size={12} />
          {t('team.task_paused')}
        </p>
      )}
      {dependencies.length > 0 && !open && (
        <p className="wrap-any line-clamp-2 text-sm text-ink-soft">
          {t('team.waits_for', { tasks: dependencies.join(', ') })}
        </p>
      )}
      {task.blocker && (
        <p className="wrap-any flex items-start gap-1.5 text-sm text-warn">
          <Icon name="warning" size={12} className="mt-[3px]" />
          <span className="min-w-0 flex-1">{task.blocker}</span>
        </p>
      )}
      {progress && !open && (
        <p className="line-clamp-2 wrap-any text-sm text-ink-soft">
          <MarkdownLine text={progress} />
        </p>
      )}
      <p className="flex min-w-0 items-center gap-1.5 text-sm text-ink-faint">
        {task.priority !== 'normal' && (
          <Badge tone={task.priority === 'high' ? 'warn' : 'quiet'}>
            {t(`team.priority.${task.priority}`)}
          </Badge>
        )}
        <span className="truncate">{assignee || t('team.unassigned')}</span>
        {task.attempts.length > 1 && (
          <span className="ml-auto whitespace-nowrap">{t.count('team.attempts', task.attempts.length)}</span>
        )}
      </p>
      {open && <TaskDetail task={task} team={team} handlers={handlers} />}
      {cancelling && (
        <ConfirmDialog
          title={t('team.task_cancel_title', { task: task.title })}
          body={t('team.task_cancel_body')}
          action={t('team.task_cancel')}
          onDo={() => handlers.onCancelTask(task.key)}
          onDone={() => setCancelling(false)}
        />
      )}
    </li>
  )
}

/** Titles of unfinished tasks that this one depends on. */
function openDependencies(task: TaskRow, team: Team): readonly string[] {
  if (task.status === 'done' || task.status === 'cancelled') return []
  return task.dependsOn.flatMap((key) => {
    const other = team.tasks.find((task) => task.key === key)
    return other === undefined || other.status === 'done' ? [] : [other.title]
  })
}
