import { type DragEvent, useState } from 'react'
import { ago, count } from '@/system/format/numbers'
import type { TaskRow } from '@/system/rows/model'
import { nameOf, type Team } from '@/system/rows/team'
import { IconButton } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { Markdown } from '@/ui/markdown'
import { MarkdownLine } from '@/ui/markdown-line'
import { Badge } from '@/ui/marks'
import { Menu } from '@/ui/menu'
import { useNow } from '@/ui/now'
import { Fact, Facts } from '../inspector/inspector'
import { useT } from '../shared/surface'
import { Confirm } from './agent-dialogs'
import { Attempts } from './attempts'
import type { TeamHandlers } from './handlers'
import { LongText } from './long-text'
import { Refs } from './refs'
import { taskEntries } from './task-menu'

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
  const assignee = task.assignee ? nameOf(team.agents, task.assignee) : ''
  const before = openBefore(task, team)
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
          entries={taskEntries(t, task, team, props.columns, {
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
      {before.length > 0 && !open && (
        <p className="wrap-any line-clamp-2 text-sm text-ink-soft">
          {t('team.waits_for', { tasks: before.join(', ') })}
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
      {open && <Detail task={task} team={team} handlers={handlers} />}
      {cancelling && (
        <Confirm
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

function Detail({ task, team, handlers }: { task: TaskRow; team: Team; handlers: TeamHandlers }) {
  const t = useT()
  const now = useNow(60_000)
  const title = (key: string) => team.tasks.find((one) => one.key === key)?.title ?? key
  return (
    <div className="mt-1 space-y-1.5 border-t border-line pt-1.5 text-sm">
      <LongText text={task.objective} />
      {task.acceptance && (
        <p className="wrap-any text-ink-soft">{t('team.acceptance', { text: task.acceptance })}</p>
      )}
      {task.parentTask && (
        <p className="text-ink-soft">{t('team.part_of', { task: title(task.parentTask) })}</p>
      )}
      {task.dependsOn.length > 0 && (
        <p className="wrap-any text-ink-soft">
          {t('team.depends_on', { tasks: task.dependsOn.map(title).join(', ') })}
        </p>
      )}
      {task.phase && <p className="wrap-any text-ink-soft">{t('team.phase', { phase: task.phase })}</p>}
      <Counters counters={task.counters} />
      {task.progress && (
        <div className="wrap-any text-ink-soft">
          <Markdown text={task.progress} streaming={false} />
        </div>
      )}
      {task.summary && (
        <div className="wrap-any">
          <Markdown text={task.summary} streaming={false} />
        </div>
      )}
      <Attempts task={task} team={team} handlers={handlers} />
      <Refs refs={task.refs} />
      {task.comments.map((comment) => (
        <p key={`${comment.at} ${comment.by}`} className="wrap-any">
          <span className="font-medium">{comment.by ? nameOf(team.agents, comment.by) : t('turn.you')}</span>{' '}
          <span className="text-ink-faint">{ago(comment.at / 1000, now, t.locale)}</span>
          <br />
          {comment.text}
        </p>
      ))}
    </div>
  )
}

/** Titles of tasks that this one waits for and that are not done. */
function openBefore(task: TaskRow, team: Team): readonly string[] {
  if (task.status === 'done' || task.status === 'cancelled') return []
  return task.dependsOn.flatMap((key) => {
    const other = team.tasks.find((one) => one.key === key)
    return other === undefined || other.status === 'done' ? [] : [other.title]
  })
}

function Counters({ counters }: { counters: TaskRow['counters'] }) {
  const t = useT()
  const all = Object.entries(counters)
  if (all.length === 0) return null
  return (
    <Facts>
      {all.map(([name, value]) => (
        <Fact key={name} name={name}>
          {count(value, t.locale)}
        </Fact>
      ))}
    </Facts>
  )
}
